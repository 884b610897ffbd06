// Writes the step from the import of images to the update of all parameters.
#include "workloads/engine/layers/layers.hpp"

#include <algorithm>
#include <array>

namespace roof::ir {
namespace {

void import_images(Builder& build)
{
    build.program.begin("input", "input", Phase::forward);
    Tensor to = build.map(0);
    int padding = 0;
    if (build.image_block > 0) {
        const model::Layer& first = build.graph.layer(readers(build.graph, 0).front());
        const model::Shape read =
            space_to_depth({{.source = build.graph.layer(0).output, .result = first.output, .window = first.window}})
                .source;
        to.channels = read.channels;
        to.height = read.height;
        to.width = read.width;
        padding = first.window.padding;
    }
    to = build.program.tensor(to);
    build.program.add_work(moving({build.images, to}, 0));
    build.program.append(ImportImages{build.images, to, build.labels_given, build.labels, build.image_block, padding},
                         {build.images, to, build.labels_given, build.labels}, "roof:import");
    build.output(0).tensor = to;
}

}  // namespace

std::optional<std::string> lacking_layers(const model::Graph& graph)
{
    using model::LayerKind;
    constexpr std::array lacking{LayerKind::relu6,        LayerKind::concat, LayerKind::hard_swish,
                                 LayerKind::hard_sigmoid, LayerKind::silu,   LayerKind::sigmoid,
                                 LayerKind::multiply,     LayerKind::slice,  LayerKind::shuffle};
    for (int index = 1; index < static_cast<int>(graph.layers().size()); ++index) {
        const model::Layer& layer = graph.layer(index);
        const model::Shape& source = graph.input_shape(index);
        std::string what;
        if (std::ranges::find(lacking, layer.kind) != lacking.end()) what = model::name(layer.kind);
        if (layer.groups > 1) what = "convolution in groups";
        if (layer.window.dilation > 1) what = "dilated convolution";
        if (layer.kind == LayerKind::linear && !layer.bias) what = "linear layer without a bias";
        if (layer.kind == LayerKind::batch_norm && layer.epsilon != engine::batch_norm_epsilon)
            what = "batch norm with another epsilon than 1e-5";
        if (layer.kind == LayerKind::average_pool && layer.window.size > 1 && layer.window.size != source.height)
            what = "average pool of a part of the map";
        if (!what.empty()) return "the GPU's engine has no " + what + ", which '" + layer.name + "' is";
    }
    if (graph.layers().back().kind == LayerKind::linear) return std::nullopt;
    return "the GPU's engine trains networks that end in a linear layer";
}

void write_step(Builder& build)
{
    if (const auto lacking = lacking_layers(build.graph)) throw Unsupported(*lacking);
    import_images(build);
    engine::write_layers(build);
}

void softmax_cross_entropy(Builder& build)
{
    const int last = static_cast<int>(build.graph.layers().size()) - 1;
    const Tensor logits = build.output(last).tensor;
    build.program.begin("loss", "softmax_cross_entropy", Phase::forward);
    const Tensor gradient = build.program.tensor(build.map(last));
    build.program.add_work(moving({logits, gradient}, 5));
    build.program.append(Loss{logits, build.labels, gradient, build.row_losses},
                         {logits, build.labels, gradient, build.row_losses}, "roof:softmax");
    build.give(last, {gradient});
}

void sgd(Builder& build)
{
    constexpr double descent = 6;  // FLOPs per parameter
    const Parameters& all = build.parameters;
    const bool is_scaled = build.settings.storage() == Precision::fp16;
    build.widen_waiting();
    build.program.begin("sgd", "sgd", Phase::update);
    if (is_scaled) {
        build.program.add_work(moving({all.gradients}, 0));
        build.program.append(CheckFinite{all.gradients}, {all.gradients}, "roof:finite");
    }
    Work work = moving({all.values, all.values, all.gradients, all.momenta, all.momenta}, descent);
    if (all.copies) work.compulsory += Bytes{static_cast<double>(all.copies.bytes())};
    work.no_reuse = work.compulsory;
    build.program.add_work(work);
    build.program.append(
        Descend{all.values, all.gradients, all.momenta, all.copies, build.settings.learning_rate, is_scaled},
        {all.values, all.values, all.gradients, all.momenta, all.momenta, all.copies}, "roof:sgd");
    build.program.append(Advance{is_scaled}, {build.program.state()}, "roof:advance");
}

}  // namespace roof::ir
