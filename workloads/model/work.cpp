// Formulas for the work of a layer. Shapes are for one image; counts are multiplied by the batch once.
#include "workloads/model/work.hpp"

#include "ert/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace roof::model {
namespace {

/// Bytes of one element. Formats below 4 bytes train with master weights, gradients and averages in fp32.
struct ElementBytes {
    double stored;
    double trained;
};

ElementBytes element_bytes(Precision precision)
{
    const double stored = traits(precision).storage_bytes;
    return {.stored = stored, .trained = stored < 4 ? 4 : stored};
}

constexpr double most_products = 0x1p62;
constexpr double token_bytes = 4;
constexpr double index_bytes = 4;
constexpr double mask_bytes = 1;  ///< per element: dropout mask, position of a max pool's largest value

/// For one axis: the taps of all windows that are inside the map, and the positions that some window reads.
struct AxisCount {
    long long taps = 0;
    long long places = 0;
};

AxisCount count_axis(int extent, int outputs, const Window& window)
{
    if (window == Window{}) return {outputs, outputs};
    AxisCount count;
    std::vector<bool> read(static_cast<std::size_t>(extent));
    for (int output = 0; output < outputs; ++output) {
        const int begin = output * window.stride - window.padding;
        for (int place = begin; place < begin + window.extent(); place += window.dilation) {
            if (place < 0 || place >= extent) continue;
            ++count.taps;
            read[static_cast<std::size_t>(place)] = true;
        }
    }
    count.places = std::ranges::count(read, true);
    return count;
}

PassWork elementwise(double flops, double bytes, double written)
{
    return {Flops{flops}, Bytes{bytes}, Bytes{bytes}, Bytes{written}};
}

/// Work of a convolution, or of a linear layer as a convolution of a 1x1 map.
LayerWork contraction(const Graph& graph, int index, int batch, ElementBytes size)
{
    const Layer& layer = graph.layer(index);
    const bool flat = layer.kind == LayerKind::linear && !graph.is_of_positions(index);
    const Shape input = flat ? Shape{static_cast<int>(graph.input_shape(index).elements())} : graph.input_shape(index);
    const Window window = layer.kind == LayerKind::linear ? Window{} : layer.window;
    const AxisCount rows = count_axis(input.height, layer.output.height, window);
    const AxisCount columns = count_axis(input.width, layer.output.width, window.across());

    LayerWork work;
    const int of_group = input.channels / layer.groups;
    const double products = 1.0 * batch * static_cast<double>(layer.output.elements()) * of_group * window.taps();
    if (products > most_products) throw InputError(layer.name + " has more than 2^62 multiply-adds");
    const long long outputs = batch * layer.output.elements();
    work.multiply_adds = outputs * of_group * window.taps();
    work.multiply_adds_unpadded = unpadded_multiply_adds({batch, input, layer.output, window, layer.groups});

    const Flops flops{2.0 * static_cast<double>(work.multiply_adds)};
    const double y = static_cast<double>(outputs) * size.stored;
    const double x_read =
        static_cast<double>(1LL * batch * input.channels * rows.places * columns.places) * size.stored;
    const double x = static_cast<double>(batch * input.elements()) * size.stored;
    const double biases = layer.bias ? layer.output.channels : 0;
    const double trained = static_cast<double>(layer.weights(input)) + biases;
    const double refetched = 2.0 * static_cast<double>(work.multiply_adds) * size.stored;

    const double gradient = trained * size.trained;
    work.forward = {flops, Bytes{x_read + trained * size.stored + y}, Bytes{refetched + biases * size.stored + y},
                    Bytes{y}};
    if (layer.inputs.front() != 0) {
        work.backward_data = {flops, Bytes{y + (trained - biases) * size.stored + x}, Bytes{refetched + x}, Bytes{x}};
    }
    work.backward_weights = {flops, Bytes{x_read + y + gradient}, Bytes{refetched + gradient}, Bytes{gradient}};
    return work;
}

/// Two products of the position's queries with all that the cache has, which is read once; its own keys and values are
/// written to it.
LayerWork cached_attention_work(const Graph& graph, int index, int batch, ElementBytes size)
{
    const Layer& layer = graph.layer(index);
    const double in = static_cast<double>(batch * graph.input_shape(index).elements());
    const double out = static_cast<double>(batch * layer.output.elements());
    const double own = in - out;  // keys and values
    LayerWork work;
    work.multiply_adds = work.multiply_adds_unpadded = std::llround(2 * layer.cached * out);
    const Flops flops{4 * layer.cached * out};
    const Bytes written{(out + own) * size.stored};
    work.forward = {flops, Bytes{(in + layer.cached * own) * size.stored} + written,
                    Bytes{flops.value * size.stored} + written, written};
    return work;
}

/// Two products of all pairs forward; five backward, of which one computes the weights again that the forward pass did
/// not keep.
LayerWork attention_work(const Graph& graph, int index, int batch, ElementBytes size)
{
    const Layer& layer = graph.layer(index);
    if (layer.cached > 0) return cached_attention_work(graph, index, batch, size);
    const double out = static_cast<double>(batch * layer.output.elements()) * size.stored;
    const long long positions = 1LL * layer.output.height * layer.output.width / layer.windows;
    const double products = 1.0 * batch * static_cast<double>(positions) * static_cast<double>(layer.output.elements());
    if (2 * products > most_products) throw InputError(layer.name + " has more than 2^62 multiply-adds");
    const auto pass = [&](double count, double moved, double written) {
        return PassWork{Flops{2 * count * products}, Bytes{moved}, Bytes{2 * count * products * size.stored + written},
                        Bytes{written}};
    };
    LayerWork work;
    const double of_keys = out * layer.kv_heads / layer.heads;  // and as many of values
    const double table = 1.0 * layer.count * layer.heads;
    const double numbers = static_cast<double>(layer.places.size()) * index_bytes + table * size.stored;
    work.multiply_adds = work.multiply_adds_unpadded = std::llround(2 * products);
    work.forward = pass(2, 2 * out + 2 * of_keys + numbers, out);
    work.backward_data =
        pass(5, 4 * out + 4 * of_keys + numbers + table * size.trained, out + 2 * of_keys + table * size.trained);
    work.executed = static_cast<double>(attended_pairs(layer)) / static_cast<double>(positions * positions);
    return work;
}

/// The share of queries and keys among queries, keys and values.
double of_queries_and_keys(const Layer& layer)
{
    return 1.0 * (layer.heads + layer.kv_heads) / (layer.heads + 2 * layer.kv_heads);
}

/// FLOPs and bytes per element are listed per layer in docs/method.md.
LayerWork elementwise_layer(const Graph& graph, int index, int batch, ElementBytes size)
{
    const Layer& layer = graph.layer(index);
    const double in = static_cast<double>(batch * graph.input_shape(index).elements());
    const double out = static_cast<double>(batch * layer.output.elements());
    const double trained = static_cast<double>(layer.parameters(graph.input_shape(index)));
    const double moved = (in + out) * size.stored;
    const double to_input = in * size.stored;
    const double to_output = out * size.stored;
    const double mask = out * mask_bytes;
    const auto passes = [](const PassWork& forward, const PassWork& backward) {
        return LayerWork{.forward = forward, .backward_data = backward};
    };
    const auto activation = std::ranges::find(activations, layer.kind, &Activation::kind);
    if (activation != activations.end())
        return passes(elementwise(activation->forward_flops * out, moved, to_output),
                      elementwise(activation->backward_flops * out, moved + to_output, to_input));
    switch (layer.kind) {
        case LayerKind::batch_norm:
        case LayerKind::layer_norm:
        case LayerKind::rms_norm: {
            const auto [forward, backward] = is_shifted(layer.kind) ? std::pair(8, 11) : std::pair(4, 9);
            return passes(elementwise(forward * out, moved + trained * size.trained, to_output),
                          elementwise(backward * out, moved + to_input + 2 * trained * size.trained,
                                      to_input + trained * size.trained));
        }
        case LayerKind::embedding: {
            // Reads a vector of each token; adds the gradients of tokens to vectors, after zeros where no other layer
            // has written them.
            const double zeros = graph.shares_weights(index) ? 0 : trained * size.trained;
            return {.forward = elementwise(0, in * token_bytes + 2 * to_output, to_output),
                    .backward_weights = elementwise(out, in * token_bytes + to_output + zeros + 2 * out * size.trained,
                                                    zeros + out * size.trained)};
        }
        case LayerKind::positions: {
            const int there = layer.output.height * layer.output.width;
            const int changed = layer.is_same ? there : std::clamp(layer.count - layer.first, 0, there);
            const double values = 1.0 * changed * layer.output.channels;
            return {.forward = elementwise(batch * values, moved + std::min(values, trained) * size.stored, to_output),
                    .backward_weights = elementwise(
                        batch * values, batch * values * size.stored + trained * size.trained, trained * size.trained)};
        }
        case LayerKind::take_positions: {
            const int there = graph.input_shape(index).height * graph.input_shape(index).width;
            const int taken = !layer.order.empty()
                                  ? there
                                  : std::min(there, layer.first + layer.output.width) - std::max(0, layer.first);
            const double both =
                static_cast<double>(1LL * batch * std::max(0, taken) * graph.input_shape(index).channels) * size.stored;
            return passes(elementwise(0, both + to_output, to_output), elementwise(0, both + to_input, to_input));
        }
        case LayerKind::relu:
            return passes(elementwise(out, moved, to_output), elementwise(out, moved + to_output, to_input));
        case LayerKind::multiply: {
            const double factors =
                static_cast<double>(batch * graph.layer(layer.inputs[1]).output.elements()) * size.stored;
            const bool sums = factors < to_input;
            return passes(elementwise(out, moved + factors, to_output),
                          elementwise((sums ? 3 : 2) * out, moved + to_input + 2 * factors, to_input + factors));
        }
        case LayerKind::rope: {
            const PassWork turn = elementwise(3 * out * of_queries_and_keys(layer), moved, to_output);
            return passes(turn, turn);
        }
        case LayerKind::slice:
        case LayerKind::shuffle:
        case LayerKind::concat: {
            const PassWork copy = elementwise(0, 2 * out * size.stored, to_output);
            return passes(copy, copy);
        }
        case LayerKind::max_pool:
            return passes(
                elementwise((layer.window.size * layer.window.size - 1) * out, moved + mask, to_output + mask),
                elementwise(out, moved + mask, to_input));
        case LayerKind::average_pool:
            if (layer.window.size == 1) return {};
            return passes(elementwise(in, moved, to_output), elementwise(in, moved, to_input));
        case LayerKind::resize:  // four products and their sum
            return passes(elementwise(7 * out, moved, to_output), elementwise(8 * out, moved, to_input));
        case LayerKind::add:
            return passes(elementwise(out, moved + to_input, to_output),
                          elementwise(out, moved + to_input, 2 * to_input));
        case LayerKind::dropout:
            return passes(elementwise(2 * out, moved + mask, to_output + mask),
                          elementwise(out, moved + mask, to_input));
        default:
            return {};
    }
}

}  // namespace

bool is_contraction(LayerKind kind)
{
    return kind == LayerKind::convolution || kind == LayerKind::linear || kind == LayerKind::attention;
}

long long attended_pairs(const Layer& layer)
{
    const long long positions = 1LL * layer.output.height * layer.output.width / layer.windows;
    if (!layer.causal) return positions * positions;
    const long long seen = layer.reach > 0 ? std::min<long long>(layer.reach, positions) : positions;
    return seen * (seen + 1) / 2 + (positions - seen) * seen;
}

int positions_read(int extent, int results, const Window& window)
{
    return static_cast<int>(count_axis(extent, results, window).places);
}

PassWork update_work(double parameters, Precision precision, Optimizer optimizer)
{
    const ElementBytes size = element_bytes(precision);
    const auto [flops, averages] = cost_of(optimizer);
    const double copy = size.stored < size.trained ? size.stored : 0;
    const double written = (1 + averages) * size.trained + copy;
    return elementwise(flops * parameters, (written + (2 + averages) * size.trained) * parameters,
                       written * parameters);
}

PassWork loss_work(const Graph& graph, int batch, Precision precision, bool trains)
{
    constexpr double logit_bytes = 4;
    const double logits = static_cast<double>(batch * graph.layers().back().output.elements());
    const double gradient = trains ? logits * element_bytes(precision).stored : 0;
    return elementwise(loss_flops(trains) * logits, logit_bytes * logits + gradient, gradient);
}

LayerWork work_of(const Graph& graph, int layer, int batch, Precision precision, Optimizer optimizer)
{
    const ElementBytes size = element_bytes(precision);
    const LayerKind kind = graph.layer(layer).kind;
    LayerWork work = kind == LayerKind::attention ? attention_work(graph, layer, batch, size)
                     : is_contraction(kind)       ? contraction(graph, layer, batch, size)
                                                  : elementwise_layer(graph, layer, batch, size);
    work.update =
        update_work(static_cast<double>(graph.layer(layer).parameters(graph.input_shape(layer))), precision, optimizer);
    return work;
}

Convolution convolution_of(const Graph& graph, int layer, int batch)
{
    const Layer& of = graph.layer(layer);
    return {batch, graph.input_shape(layer), of.output, of.window, of.groups};
}

std::string text(int batch, const Shape& map)
{
    return std::to_string(batch) + "x" + std::to_string(map.channels) + "x" + std::to_string(map.height) + "x" +
           std::to_string(map.width);
}

std::string text(const ConvolutionPass& pass)
{
    const auto with = [](int value, int usual, const char* name) {
        return value == usual ? "" : name + std::to_string(value);
    };
    const model::Window across = pass.window.across();
    const auto both = [](int down, int other) {
        return std::to_string(down) + (down == other ? "" : "x" + std::to_string(other));
    };
    return text(pass.batch, pass.source) + " to " + std::to_string(pass.result.channels) +
           with(pass.groups, 1, ", groups ") + ", " + std::to_string(pass.window.size) + "x" +
           std::to_string(across.size) + " stride " + both(pass.window.stride, across.stride) + " padding " +
           both(pass.window.padding, across.padding) + with(pass.window.dilation, 1, " dilation ") +
           (pass.bias ? " + bias" : "") + (pass.relu ? " + relu" : "") + (pass.prologue ? " of a scaled source" : "") +
           (pass.statistics ? " + statistics" : "");
}

long long unpadded_multiply_adds(const Convolution& convolution)
{
    const auto& [batch, source, result, window, groups] = convolution;
    const long long rows = count_axis(source.height, result.height, window).taps;
    const long long columns = count_axis(source.width, result.width, window.across()).taps;
    return 1LL * batch * (source.channels / groups) * result.channels * rows * columns;
}

long long winograd_multiply_adds(const Convolution& convolution, int tile, CutTiles cut)
{
    const auto points = [&](int extent) {
        const int rest = extent % tile;
        const int of_last = rest == 0 ? 0 : (cut == CutTiles::by_need ? rest : tile) + 2;
        return 1LL * (extent / tile) * (tile + 2) + of_last;
    };
    const auto& [batch, source, result, window, groups] = convolution;
    const long long channel_pairs = 1LL * source.channels * result.channels / groups;
    return batch * points(result.height) * points(result.width) * channel_pairs;
}

void StepWork::add(const LayerWork& layer, bool is_contraction)
{
    update += layer.update.flops;
    if (!is_contraction) {
        elementwise += layer.forward.flops + layer.backward_data.flops + layer.backward_weights.flops;
        return;
    }
    forward += layer.forward.flops;
    backward_data += layer.backward_data.flops;
    backward_weights += layer.backward_weights.flops;
}

StepWork work_of(const Graph& graph, int batch, Precision precision, Optimizer optimizer)
{
    StepWork step;
    for (int index = 0; index < static_cast<int>(graph.layers().size()); ++index)
        step.add(work_of(graph, index, batch, precision, optimizer), is_contraction(graph.layer(index).kind));
    return step;
}

}  // namespace roof::model
