// Writes the step from the import of images to the update of all parameters.
#include "workloads/cudnn/program/layers.hpp"

namespace roof::cudnn {
namespace {

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
