#include "analysis/estimate/footprint.hpp"

#include "ert/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace roof::analysis {
namespace {

using model::Graph;
using model::Layer;
using model::LayerKind;

bool is_relu(const Layer& layer)
{
    return layer.kind == LayerKind::relu || layer.kind == LayerKind::relu6;
}

/// A layer whose output uses the memory of its first input.
bool is_in_place(const Layer& layer)
{
    const bool keeps_size = layer.kind == LayerKind::average_pool && layer.window.size == 1;
    return keeps_size || layer.kind == LayerKind::flatten || is_relu(layer) || layer.kind == LayerKind::add;
}

/// For each layer, the layer that allocated the memory of its output.
std::vector<int> owners_in(const Graph& graph)
{
    std::vector<int> owners;
    for (int index = 0; index < static_cast<int>(graph.layers().size()); ++index) {
        const Layer& layer = graph.layer(index);
        owners.push_back(is_in_place(layer) ? owners[static_cast<std::size_t>(layer.inputs.front())] : index);
    }
    return owners;
}

/// Memory allocated by one layer.
struct Block {
    long long values = 0;  ///< values for one image; 0 if the layer allocates none
    int needed_by = -1;    ///< first layer whose backward pass reads it; negative: none, so it is not kept
    int last_user = 0;  ///< the last layer with it as an input; its gradient exists from that layer's backward pass on
    bool kept() const { return needed_by >= 0; }
};

/// Whose backward passes: PyTorch's reads what was pooled, too.
enum class TrainedBy { ours, pytorch };

std::vector<int> read_by_backward(const Graph& graph, int index, TrainedBy trained_by)
{
    const Layer& layer = graph.layer(index);
    if (layer.kind == LayerKind::max_pool && trained_by == TrainedBy::pytorch) return {layer.inputs.front()};
    if (is_relu(layer)) return {index};
    if (layer.kind == LayerKind::multiply) return layer.inputs;
    if (layer.kind == LayerKind::attention) return {layer.inputs.front(), index};
    const bool reads_input =
        model::is_contraction(layer.kind) || model::is_activation(layer.kind) || model::is_norm(layer.kind);
    return reads_input ? std::vector{layer.inputs.front()} : std::vector<int>{};
}

std::vector<Block> blocks_of(const Graph& graph, TrainedBy trained_by = TrainedBy::ours)
{
    const int layers = static_cast<int>(graph.layers().size());
    std::vector<Block> blocks(static_cast<std::size_t>(layers));
    const std::vector<int> owners = owners_in(graph);
    const auto block = [&](int index) -> Block& {
        return blocks[static_cast<std::size_t>(owners[static_cast<std::size_t>(index)])];
    };
    for (int index = 1; index < layers; ++index) {
        if (!is_in_place(graph.layer(index))) block(index).values = graph.layer(index).output.elements();
        for (const int input : graph.layer(index).inputs) block(input).last_user = index;
        for (const int read : read_by_backward(graph, index, trained_by))
            if (!block(read).kept()) block(read).needed_by = index;
    }
    block(layers - 1).needed_by = block(layers - 1).last_user = layers - 1;  // the loss
    blocks.front() = {};                                                     // images are counted separately
    return blocks;
}

long long kept_values(const std::vector<Block>& blocks)
{
    long long sum = 0;
    for (const Block& block : blocks) sum += block.kept() ? block.values : 0;
    return sum;
}

/// Keys and values that stay from step to step.
long long cached_values(const Graph& graph)
{
    long long sum = 0;
    for (int index = 1; index < static_cast<int>(graph.layers().size()); ++index) {
        const Layer& layer = graph.layer(index);
        if (layer.cached > 0) sum += 1LL * layer.cached * (graph.input_shape(index).channels - layer.output.channels);
    }
    return sum;
}

/// The most live values while a layer runs: in the forward pass kept values, and those still in use; in the backward
/// pass values still to be read, and gradients.
long long most_alive(const std::vector<Block>& blocks, bool in_backward)
{
    const int end = static_cast<int>(blocks.size());
    std::vector<long long> changes(blocks.size() + 1);  // from one layer to the next
    const auto add = [&](int first, int last, long long values) {
        if (first > last) return;
        changes[static_cast<std::size_t>(first)] += values;
        changes[static_cast<std::size_t>(last) + 1] -= values;
    };
    for (int made = 1; made < end; ++made) {
        const Block& block = blocks[static_cast<std::size_t>(made)];
        if (block.kept()) add(in_backward ? std::max(made, block.needed_by) : made, end - 1, block.values);
        if (in_backward || !block.kept()) add(made, block.last_user, block.values);
    }
    long long alive = 0, most = 0;
    for (int at = 0; at < end; ++at) most = std::max(most, alive += changes[static_cast<std::size_t>(at)]);
    return most;
}

/// The most values of the inputs and the output of one layer.
long long largest_layer(const Graph& graph)
{
    long long most = 0;
    for (int index = 1; index < static_cast<int>(graph.layers().size()); ++index) {
        const Layer& layer = graph.layer(index);
        if (is_in_place(layer)) continue;
        long long values = layer.output.elements();
        for (const int input : layer.inputs) values += graph.layer(input).output.elements();
        most = std::max(most, values);
    }
    return most;
}

long long values_of(const Graph& graph, LayerKind kind)
{
    long long sum = 0;
    for (const Layer& layer : graph.layers()) sum += layer.kind == kind ? layer.output.elements() : 0;
    return sum;
}

Bytes bytes(int batch, long long values, double each)
{
    return Bytes{batch * static_cast<double>(values) * each};
}

}  // namespace

Footprint footprint_of(const Graph& graph, int batch, Precision precision, Passes passes, model::Optimizer optimizer)
{
    const double stored = traits(precision).storage_bytes;
    const double trained = std::max(4.0, stored);
    const bool has_copy = stored < trained;
    const long long parameters = graph.parameter_count();
    const std::vector<Block> blocks = blocks_of(graph);
    const long long kept = kept_values(blocks);
    const long long winners = values_of(graph, LayerKind::max_pool);
    Footprint footprint;
    footprint.parameters = bytes(1, parameters, is_inference(passes) ? stored : trained + (has_copy ? stored : 0));
    footprint.images = bytes(batch, graph.layer(0).output.elements(), stored);
    footprint.activations = bytes(batch, is_inference(passes) ? cached_values(graph) : kept, stored);
    footprint.pool_winners = bytes(batch, winners, 1);
    footprint.pool_inputs = bytes(batch, kept_values(blocks_of(graph, TrainedBy::pytorch)) - kept, stored);
    footprint.masks = bytes(batch, winners + values_of(graph, LayerKind::dropout), 1);
    long long alive = most_alive(blocks, false);
    if (passes == Passes::train) {
        footprint.gradients = bytes(1, parameters, trained);
        footprint.momentum = footprint.gradients * model::cost_of(optimizer).averages;
        alive = std::max(alive, most_alive(blocks, true));
    }
    if (is_inference(passes)) alive += kept;  // nothing is kept for a backward pass
    footprint.working = bytes(batch, alive - kept, stored);
    return footprint;
}

Bytes inference_bytes(const Graph& graph, int batch, Precision precision)
{
    const double stored = traits(precision).storage_bytes;
    return bytes(1, graph.parameter_count(), stored) + bytes(batch, graph.layer(0).output.elements(), stored) +
           bytes(batch, largest_layer(graph), stored);
}

int largest_batch(const Footprint& footprint, int batch, Bytes memory)
{
    const Bytes fixed = footprint.parameters + footprint.gradients + footprint.momentum;
    const Bytes each = (footprint.total() - fixed) / batch;
    constexpr double most = 1 << 30;
    return memory <= fixed ? 0 : static_cast<int>(std::min(most, (memory - fixed) / each));
}

std::map<std::string, double> input_uses(const std::string& model)
{
    std::map<std::string, double> uses;
    try {
        const model::Graph graph = model::build_model(model);
        for (const model::Layer& layer : graph.layers()) {
            if (!model::is_contraction(layer.kind)) continue;
            const bool windows = layer.kind == model::LayerKind::convolution;
            const model::Window& window = layer.window;
            const auto along = [](const model::Window& of) { return std::ceil(1.0 * of.size / of.stride); };
            uses[layer.name] = windows ? along(window) * along(window.across()) : 1;
        }
    } catch (const Error&) {
        return {};
    }
    return uses;
}

Bytes least_bytes_of_product(Flops flops, double uses, Bytes nearer, int parts, Bytes value, int products)
{
    const double kept = nearer / value;
    if (!(kept > 0)) return {};
    const double values = flops.value / std::sqrt(uses * kept) - 2 * kept * parts * products;
    return std::max(Bytes{}, value * values);
}

}  // namespace roof::analysis
