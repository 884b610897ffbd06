#include "workloads/engine/layers/parameters.hpp"

#include "ert/base/checksum.hpp"
#include "ert/base/error.hpp"
#include "workloads/engine/ir/formulas.hpp"
#include "workloads/engine/layers/builder.hpp"

#include <algorithm>
#include <numeric>

namespace roof::ir {

bool keeps_order(model::LayerKind kind)
{
    using enum model::LayerKind;
    return kind == flatten || kind == dropout || kind == relu || model::is_activation(kind);
}

namespace {

/// In values: 256 bytes of the narrowest type, which cuBLASLt assumes for every matrix.
constexpr std::size_t alignment = 128;

/// Whether a layer behind this one reads PyTorch's order of its values: any but a linear layer, and the loss.
bool is_read_in_order(const model::Graph& graph, int layer)
{
    const std::vector<int> reading = readers(graph, layer);
    return reading.empty() || std::ranges::any_of(reading, [&](int reader) {
               const model::LayerKind kind = graph.layer(reader).kind;
               return keeps_order(kind) ? is_read_in_order(graph, reader) : kind != model::LayerKind::linear;
           });
}

model::Shape span_of(const model::Graph& graph, const model::Parameter& parameter)
{
    if (parameter.shape.size() == 4) return {parameter.shape[1], parameter.shape[2], parameter.shape[3]};
    const bool is_flat =
        graph.layer(parameter.layer).kind == model::LayerKind::linear && !graph.is_of_positions(parameter.layer);
    if (!is_flat || parameter.is_bias) return {1, 1, 1};
    // After a flattened map, the inputs are the values of that map.
    int source = graph.layer(parameter.layer).inputs.front();
    for (;;) {
        const model::Layer& layer = graph.layer(source);
        if (!keeps_order(layer.kind) || is_in_pytorch_order(graph, source)) return layer.output;
        source = layer.inputs.front();
    }
}

Tensor piece(const Tensor& block, std::size_t first, std::size_t count)
{
    Tensor part = block;
    part.channels = static_cast<int>(count);
    part.begin = first * static_cast<std::size_t>(traits(block.precision).storage_bytes);
    return part;
}

void set_depth(Trained& trained, int block)
{
    const auto size = static_cast<std::size_t>(trained.per_output.height);
    const auto channels = static_cast<std::size_t>(trained.per_output.channels);
    const auto edge = static_cast<std::size_t>(block);
    const std::size_t outputs = trained.given / (channels * size * size);
    trained.depth = {edge, size, channels, up_to_multiple(edge * edge * channels, std::size_t{8})};
    trained.count = outputs * trained.depth.taps() * trained.depth.taps() * trained.depth.stored;
}

}  // namespace

std::optional<std::size_t> Trained::pytorch_place(std::size_t k) const
{
    if (depth.block > 0) {
        const std::size_t place = depth.pytorch_place(k);
        return place == no_place ? std::nullopt : std::optional(place);
    }
    if (k >= given) return std::nullopt;
    const auto map = static_cast<std::size_t>(per_output.height) * static_cast<std::size_t>(per_output.width);
    return planar_place(k, static_cast<std::size_t>(per_output.channels), map);
}

bool is_in_pytorch_order(const model::Graph& graph, int flatten)
{
    const bool is_flattened = graph.layer(flatten).kind == model::LayerKind::flatten &&
                              graph.input_shape(flatten).channels != graph.layer(flatten).output.channels;
    return is_flattened && is_read_in_order(graph, flatten);
}

Parameters::Parameters(const model::Graph& graph, const Settings& settings, int image_block, int outputs_multiple,
                       Program& program)
    : described_(graph.parameters()), trained_(described_.size()), order_(described_.size())
{
    for (const model::Layer& layer : graph.layers()) weights_of_.push_back(layer.weights_of);
    std::iota(order_.rbegin(), order_.rend(), std::size_t{0});
    const int last = static_cast<int>(graph.layers().size()) - 1;
    std::size_t total = 0;
    for (const std::size_t k : order_) {
        Trained& trained = trained_[k];
        trained.first = total;
        trained.given = static_cast<std::size_t>(described_[k].elements());
        trained.per_output = span_of(graph, described_[k]);
        const bool is_last = described_[k].layer == last || described_[k].layer == weights_of_.back();
        const bool is_product = graph.layer(last).kind == model::LayerKind::linear;
        const int outputs = described_[k].shape.front();
        trained.outputs = up_to_multiple(outputs, is_last && is_product ? outputs_multiple : 1);
        trained.count = trained.given / static_cast<std::size_t>(outputs) * static_cast<std::size_t>(trained.outputs);
        const bool reads_images =
            described_[k].shape.size() == 4 && graph.layer(described_[k].layer).inputs.front() == 0;
        if (reads_images && image_block > 0) set_depth(trained, image_block);
        total += up_to_multiple(trained.count, alignment);
    }
    const Tensor all{.batch = 1, .channels = static_cast<int>(total)};
    values = program.resident(all);
    if (settings.trains) {
        gradients = program.resident(all);
        momenta = program.resident(all);
        if (settings.optimizer == model::Optimizer::adamw) squares = program.resident(all);
    }
    if (settings.narrow()) {
        Tensor small = all;
        small.precision = settings.storage();
        copies = program.resident(small);
    }
    for (Trained& trained : trained_) {
        trained.value = piece(values, trained.first, trained.count);
        trained.gradient = piece(gradients, trained.first, trained.count);
        trained.momentum = piece(momenta, trained.first, trained.count);
        trained.read = copies ? piece(copies, trained.first, trained.count) : trained.value;
    }
}

std::string Parameters::layouts() const
{
    std::string lines;
    for (const std::size_t k : order_) {
        const Trained& one = trained_[k];
        lines += described_[k].name + " " + std::to_string(one.count) + " numbers from " + std::to_string(one.first) +
                 (one.depth.block > 0 ? " by space to depth" : "") + ", read in " +
                 std::string(traits(one.read.precision).name) + "\n";
    }
    return lines;
}

std::string Parameters::checksums(std::span<const float> numbers) const
{
    std::string lines;
    for (const std::size_t k : order_)
        lines += described_[k].name + " " +
                 std::to_string(crc32_of(numbers.subspan(trained_[k].first, trained_[k].count))) + "\n";
    return lines;
}

std::size_t Parameters::index_of(int layer, bool is_bias) const
{
    const int other = weights_of_.at(static_cast<std::size_t>(layer));
    if (!is_bias && other >= 0) layer = other;
    for (std::size_t k = 0; k < described_.size(); ++k)
        if (described_[k].layer == layer && described_[k].is_bias == is_bias) return k;
    throw Error("layer " + std::to_string(layer) + " has no such parameter");
}

}  // namespace roof::ir
