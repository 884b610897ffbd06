// Each append computes the shape of its output, so that a model's file contains only what its paper gives.
#include "workloads/model/graph.hpp"

#include <functional>
#include <numeric>
#include <stdexcept>

namespace roof::model {
namespace {

/// Throws std::logic_error for a window that cannot be, or does not fit along an axis of so many positions.
void require_fit(const Window& window, int extent)
{
    constexpr int most = 65'536;
    const auto is_wrong = [](int number, int least) { return number < least || number > most; };
    if (is_wrong(window.size, 1) || is_wrong(window.stride, 1) || is_wrong(window.padding, 0) ||
        is_wrong(window.dilation, 1) || 1LL * window.dilation * window.size > 1LL << 30)
        throw std::logic_error("a window of size " + std::to_string(window.size) + ", stride " +
                               std::to_string(window.stride) + ", padding " + std::to_string(window.padding) +
                               " and dilation " + std::to_string(window.dilation) + " cannot be");
    if (extent + 2 * window.padding < window.extent())
        throw std::logic_error("a window of " + std::to_string(window.extent()) + " does not fit into " +
                               std::to_string(extent) + " positions");
}

Shape slid_over(const Shape& input, int channels, const Window& window)
{
    require_fit(window, input.height);
    require_fit(window.across(), input.width);
    return window.result(input, channels);
}

/// As Parameter has it; empty for a layer without a weight.
std::vector<long long> shape_of_weights(const Layer& of, const Shape& input)
{
    const long long channels = of.output.channels;
    if (of.kind == LayerKind::convolution)
        return {channels, input.channels / of.groups, of.window.size, of.window.across().size};
    if (of.kind == LayerKind::linear) return {channels, input.elements() / (1LL * of.output.height * of.output.width)};
    if (of.kind == LayerKind::embedding) return {of.vocabulary, channels};
    if (of.kind == LayerKind::positions) return {of.count, channels};
    if (of.kind == LayerKind::attention && of.count > 0) return {of.count, of.heads};
    return is_norm(of.kind) ? std::vector{channels} : std::vector<long long>{};
}

/// Whether the order has each of so many places once.
bool is_permutation(std::vector<int> order, long long places)
{
    std::ranges::sort(order);
    for (std::size_t k = 0; k < order.size(); ++k)
        if (order[k] != static_cast<int>(k)) return false;
    return std::ssize(order) == places;
}

}  // namespace

long long Layer::weights(const Shape& input) const
{
    const std::vector<long long> extents = shape_of_weights(*this, input);
    return extents.empty() ? 0 : std::accumulate(extents.begin(), extents.end(), 1LL, std::multiplies{});
}

long long Parameter::elements() const
{
    long long product = 1;
    for (const int extent : shape) product *= extent;
    return product;
}

Graph::Graph(std::string name, Shape input) : name_(std::move(name))
{
    append({.name = "input", .kind = LayerKind::input, .inputs = {}, .output = input, .window = {}});
}

int Graph::append(Layer layer)
{
    constexpr double most = 1LL << 53;  // so that products with a window or a batch are counted in 64 bits
    const Shape& made = layer.output;
    if (1.0 * made.channels * made.height * made.width > most)
        throw std::logic_error(layer.name + " makes more than 2^53 values of one image");
    layers_.push_back(std::move(layer));
    return static_cast<int>(layers_.size()) - 1;
}

const Shape& Graph::input_shape(int index) const
{
    const Layer& of = layer(index);
    return of.inputs.empty() ? of.output : layer(of.inputs.front()).output;
}

int Graph::convolution(std::string name, int input, int channels, Window window, bool bias, int groups)
{
    const Shape& from = layer(input).output;
    if (groups < 1 || from.channels % groups != 0 || channels % groups != 0)
        throw std::logic_error(std::to_string(from.channels) + " and " + std::to_string(channels) +
                               " channels are no " + std::to_string(groups) + " groups");
    const Shape output = slid_over(from, channels, window);
    return append({std::move(name), LayerKind::convolution, {input}, output, window, bias, 0, groups});
}

int Graph::norm(LayerKind kind, std::string name, int input, float epsilon)
{
    const Shape& map = layer(input).output;
    return append({std::move(name), kind, {input}, map, {}, false, 0, 1, epsilon});
}

int Graph::max_pool(std::string name, int input, Window window, bool ceil)
{
    const Shape& from = layer(input).output;
    Shape output = slid_over(from, from.channels, window);
    const auto one_more = [&](int extent, int outputs) {
        const int begin = outputs * window.stride - window.padding;  // of one more window
        return ceil && begin + window.size - window.stride < extent + window.padding && begin < extent;
    };
    output.height += one_more(from.height, output.height) ? 1 : 0;
    output.width += one_more(from.width, output.width) ? 1 : 0;
    return append({std::move(name), LayerKind::max_pool, {input}, output, window});
}

int Graph::average_pool(std::string name, int input, Window window)
{
    const Shape& from = layer(input).output;
    return append({std::move(name), LayerKind::average_pool, {input}, slid_over(from, from.channels, window), window});
}

int Graph::average_pool(std::string name, int input, int size)
{
    const Shape& from = layer(input).output;
    const bool identity = from.height == size && from.width == size;
    if (!identity && (size != 1 || from.height != from.width)) {
        throw std::logic_error("average_pool reduces a square map to 1x1 or keeps it; other sizes are not modelled");
    }
    const int extent = identity ? 1 : from.height;
    const Window window{.size = extent, .stride = extent, .padding = 0};
    return append({std::move(name), LayerKind::average_pool, {input}, {from.channels, size, size}, window});
}

int Graph::add(std::string name, int left, int right)
{
    if (layer(left).output != layer(right).output) {
        throw std::logic_error(name + " joins '" + layer(left).name + "' and '" + layer(right).name +
                               "', whose shapes differ");
    }
    return append({std::move(name), LayerKind::add, {left, right}, layer(left).output, {}});
}

int Graph::multiply(std::string name, int map, int factor)
{
    const Shape& shape = layer(map).output;
    const Shape& by = layer(factor).output;
    if (by != shape && by != Shape{shape.channels})
        throw std::logic_error(name + " multiplies '" + layer(map).name + "' by '" + layer(factor).name +
                               "', which has neither its shape nor one value for each of its channels");
    return append({std::move(name), LayerKind::multiply, {map, factor}, shape, {}});
}

/// Appends a layer that reads queries, keys and values; a head has a multiple of `divisor` channels.
int Graph::of_heads(Layer layer, int heads, int kv_heads, int divisor)
{
    if (kv_heads == 0) kv_heads = heads;
    const int channels = layer.output.channels;
    if (heads < 1 || kv_heads < 1 || heads % kv_heads != 0 || channels % (divisor * (heads + 2 * kv_heads)) != 0)
        throw std::logic_error(std::to_string(channels) + " channels are no queries, keys and values of " +
                               std::to_string(heads) + " heads" +
                               (kv_heads == heads ? "" : " and " + std::to_string(kv_heads) + " of keys and values") +
                               (divisor == 1 ? "" : " with an even number of channels each"));
    layer.heads = heads;
    layer.kv_heads = kv_heads;
    return append(std::move(layer));
}

int Graph::attention(std::string name, int input, int heads, bool causal, int kv_heads, int reach)
{
    const int index =
        of_heads({std::move(name), LayerKind::attention, {input}, layer(input).output, {}}, heads, kv_heads, 1);
    Layer& made = layers_.back();
    made.output.channels = made.output.channels / (heads + 2 * made.kv_heads) * heads;
    made.causal = causal;
    made.reach = reach;
    return index;
}

int Graph::attention_with_table(std::string name, int input, int heads, int windows, int rows, std::vector<int> places)
{
    const Shape& from = layer(input).output;
    const long long all = 1LL * from.height * from.width, each = windows < 1 ? 0 : all / windows;
    const bool are_rows = std::ranges::all_of(places, [&](int place) { return place >= -1 && place < rows; });
    const auto given = static_cast<long long>(places.size());
    if (each * windows != all || rows < 1 || !are_rows || (given != each * each && given != each * all))
        throw std::logic_error(name + " has no row of its table for each pair of positions in a window");
    const int index = attention(std::move(name), input, heads);
    Layer& made = layers_.back();
    made.windows = windows;
    made.count = rows;
    made.places = std::move(places);
    return index;
}

int Graph::attention_over_cache(std::string name, int input, int heads, int kv_heads, int cached)
{
    const Shape& from = layer(input).output;
    if (from.height * from.width != 1 || cached < 1 || kv_heads < 1 || heads % kv_heads != 0 ||
        from.channels % (heads + 2 * kv_heads) != 0)
        throw std::logic_error(name + " reads no queries of " + std::to_string(heads) +
                               " heads and keys and values of " + std::to_string(kv_heads) + " at one position");
    const int index = attention(std::move(name), input, heads, false, kv_heads);
    layers_.back().cached = cached;
    return index;
}

int Graph::rope(std::string name, int input, int heads, float theta, int kv_heads, int first)
{
    const int index =
        of_heads({std::move(name), LayerKind::rope, {input}, layer(input).output, {}}, heads, kv_heads, 2);
    layers_.back().theta = theta;
    layers_.back().first = first;
    return index;
}

int Graph::slice(std::string name, int input, int first, int channels)
{
    Shape output = layer(input).output;
    if (first < 0 || channels < 1 || channels > output.channels - first)
        throw std::logic_error(name + " takes channels that '" + layer(input).name + "' does not have");
    output.channels = channels;
    const int index = append({std::move(name), LayerKind::slice, {input}, output, {}});
    layers_.back().first = first;
    return index;
}

int Graph::shuffle(std::string name, int input, std::vector<int> order)
{
    const Shape output = layer(input).output;
    if (!is_permutation(order, output.channels))
        throw std::logic_error(name + " is no permutation of the channels of '" + layer(input).name + "'");
    const int index = append({std::move(name), LayerKind::shuffle, {input}, output, {}});
    layers_.back().order = std::move(order);
    return index;
}

int Graph::concat(std::string name, std::vector<int> inputs)
{
    Shape output = layer(inputs.at(0)).output;
    output.channels = 0;
    for (const int input : inputs) {
        const Shape& map = layer(input).output;
        if (map.height != output.height || map.width != output.width)
            throw std::logic_error(name + " joins maps of different sizes");
        output.channels += map.channels;
    }
    return append({std::move(name), LayerKind::concat, std::move(inputs), output, {}});
}

int Graph::flatten(std::string name, int input)
{
    const int features = static_cast<int>(layer(input).output.elements());
    return append({std::move(name), LayerKind::flatten, {input}, {features, 1, 1}, {}});
}

int Graph::linear_of_positions(std::string name, int input, int features, bool bias, int weights_of)
{
    Shape output = layer(input).output;
    if (weights_of >= 0 &&
        (layer(weights_of).kind != LayerKind::embedding || layer(weights_of).vocabulary != features ||
         layer(weights_of).output.channels != output.channels))
        throw std::logic_error(name + " reads weights of '" + layer(weights_of).name + "', which has others");
    output.channels = features;
    const int index = append({std::move(name), LayerKind::linear, {input}, output, {}, bias});
    layers_.back().weights_of = weights_of;
    return index;
}

int Graph::embedding(std::string name, int input, int vocabulary, int channels)
{
    Shape output = layer(input).output;
    if (input != 0 || output.channels != 1 || layers_.size() != 1)
        throw std::logic_error(name + " reads no numbers of tokens: the first layer does, of an input of one channel");
    output.channels = channels;
    const int index = append({std::move(name), LayerKind::embedding, {input}, output, {}});
    layers_.back().vocabulary = vocabulary;
    return index;
}

int Graph::positions(std::string name, int input, int count, int first)
{
    const Shape output = layer(input).output;
    const int index = append({std::move(name), LayerKind::positions, {input}, output, {}});
    layers_.back().count = count > 0 ? count : output.height * output.width;
    layers_.back().first = first;
    return index;
}

int Graph::shift(std::string name, int input)
{
    const int index = positions(std::move(name), input, 1);
    layers_.back().is_same = true;
    return index;
}

int Graph::take_positions(std::string name, int input, int first, int count)
{
    const int index =
        append({std::move(name), LayerKind::take_positions, {input}, {layer(input).output.channels, 1, count}, {}});
    layers_.back().first = first;
    return index;
}

int Graph::rearrange(std::string name, int input, Shape output, std::vector<int> order)
{
    const Shape& from = layer(input).output;
    if (!is_permutation(order, 1LL * from.height * from.width) || output.elements() != from.elements() ||
        output.channels % from.channels != 0)
        throw std::logic_error(name + " is no permutation of the positions of '" + layer(input).name + "'");
    const int index = append({std::move(name), LayerKind::take_positions, {input}, output, {}});
    layers_.back().order = std::move(order);
    return index;
}

bool Graph::is_of_positions(int index) const
{
    const Shape& output = layer(index).output;
    return layer(index).kind == LayerKind::linear && output.height * output.width > 1;
}

std::vector<Parameter> Graph::parameters() const
{
    std::vector<Parameter> all;
    for (int index = 0; index < static_cast<int>(layers_.size()); ++index) {
        const Layer& of = layer(index);
        const std::vector<long long> extents = shape_of_weights(of, input_shape(index));
        if (!extents.empty() && of.weights_of < 0)
            all.push_back({of.name + ".weight", index, false, {extents.begin(), extents.end()}});
        if (of.bias || is_shifted(of.kind)) all.push_back({of.name + ".bias", index, true, {of.output.channels}});
    }
    return all;
}

long long Graph::parameter_count() const
{
    long long sum = 0;
    for (const Parameter& parameter : parameters()) sum += parameter.elements();
    return sum;
}

}  // namespace roof::model
