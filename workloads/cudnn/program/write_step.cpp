// The step from its beginning, the import of images, to its end, the update of all parameters.
#include "workloads/cudnn/program/layers.hpp"

#include <algorithm>

namespace roof::cudnn {
namespace {

using model::LayerKind;

void write(Builder& build, const Unit& unit)
{
    switch (build.layer(unit).kind) {
        case LayerKind::input:
            return;
        case LayerKind::convolution:
            return convolution(build, unit);
        case LayerKind::batch_norm:
            return batch_norm(build, unit);
        case LayerKind::relu:
            return relu(build, unit);
        case LayerKind::max_pool:
            return max_pool(build, unit);
        case LayerKind::average_pool:
            return average_pool(build, unit);
        case LayerKind::add:
            return add(build, unit);
        case LayerKind::flatten:
            return pass_through(build, unit);
        case LayerKind::dropout:
            return dropout(build, unit);
        case LayerKind::linear:
            return linear(build, unit);
    }
}

void import_images(Builder& build)
{
    build.program.begin("input", "input", Phase::forward);
    const Tensor to = build.program.tensor(build.map(0));
    build.program.add_work(moving({build.images, to}, 0));
    build.program.append(ImportImages{build.images, to, build.labels_given, build.labels},
                         {build.images, to, build.labels_given, build.labels}, "roof:import");
    build.output(0).tensor = to;
}

}  // namespace

void write_step(Builder& build)
{
    import_images(build);
    for (const Unit& unit : engine::units_of(build.graph)) write(build, unit);
    softmax_cross_entropy(build);
    std::for_each(build.tape.rbegin(), build.tape.rend(), [](const auto& backward) { backward(); });
    sgd(build);
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
    build.give(last, gradient);
}

void sgd(Builder& build)
{
    constexpr double descent = 6;  // FLOPs per parameter
    const Parameters& all = build.parameters;
    const bool is_scaled = build.settings.storage() == Precision::fp16;
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
        {all.values, all.gradients, all.momenta, all.copies}, "roof:sgd");
    build.program.append(Advance{is_scaled}, {build.program.state()}, "roof:advance");
}

}  // namespace roof::cudnn
