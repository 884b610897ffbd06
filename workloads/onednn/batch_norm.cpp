// Batch norm in training mode, by oneDNN; m and v are a channel's mean and (biased) variance over the batch:
//   y = g * (x - m) / sqrt(v + eps) + b, then the fused ReLU; oneDNN keeps the ReLU's decisions for the way back
//   db = sum of dy;  dg = sum of dy * (x - m) / sqrt(v + eps);  dx follows from both
// The running statistics, which training only writes, are updated here:
//   running = 0.9 * running + 0.1 * {m, v * n / (n - 1)}, n values per channel
#include "workloads/onednn/layers.hpp"

namespace roof::onednn {
namespace {

struct Tensors {
    Tensor source, mean, variance, decisions;
    const Trained* scale;
    const Trained* shift;
};

void update(const Tensor& running, const Tensor& batch, float correction)
{
    float* r = running.data();
    const float* b = batch.data();
    for (std::size_t c = 0, channels = running.stored(); c < channels; ++c) {
        r[c] = (1 - batch_norm_momentum) * r[c] + batch_norm_momentum * correction * b[c];
    }
}

void forward(Builder& build, const Unit& unit, const BatchNormPasses& passes, const Tensors& tensors)
{
    build.begin(unit, Phase::forward);
    build.add_work(build.work(unit.layer).forward);
    if (unit.fused()) build.add_flops(build.work(unit.relu).forward.flops);

    const Tensor result = build.program.tensor(passes.forward.dst_desc());
    Arguments arguments{{DNNL_ARG_SRC, tensors.source},         {DNNL_ARG_DST, result},
                        {DNNL_ARG_MEAN, tensors.mean},          {DNNL_ARG_VARIANCE, tensors.variance},
                        {DNNL_ARG_SCALE, tensors.scale->value}, {DNNL_ARG_SHIFT, tensors.shift->value}};
    if (unit.fused()) arguments.emplace_back(DNNL_ARG_WORKSPACE, tensors.decisions);
    build.program.append<dnnl::batch_normalization_forward>(passes.forward, arguments);

    const Desc channels = tensors.mean.desc();
    build.running.push_back(
        {build.layer(unit).name, build.program.resident(channels), build.program.resident(channels)});
    const double values =
        static_cast<double>(build.settings.batch) * build.layer(unit).output.height * build.layer(unit).output.width;
    const auto unbiased = static_cast<float>(values / (values - 1));
    build.program.append(
        [tensors, running = build.running.back(), unbiased] {
            update(running.mean, tensors.mean, 1);
            update(running.variance, tensors.variance, unbiased);
        },
        {tensors.mean, tensors.variance}, "roof:running_statistics");
    build.put(unit, result);
}

void backward(Builder& build, const Unit& unit, const BatchNormPasses& passes, const Tensors& tensors)
{
    build.begin(unit, Phase::backward);
    build.add_work(build.work(unit.layer).backward_data);
    if (unit.fused()) build.add_flops(build.work(unit.relu).backward_data.flops);

    const Gradient given = build.gradient(unit.last());
    const Tensor to_source = given.shared ? build.program.tensor(given.tensor.desc()) : given.tensor;
    Arguments arguments{{DNNL_ARG_SRC, tensors.source},
                        {DNNL_ARG_DIFF_DST, given.tensor},
                        {DNNL_ARG_DIFF_SRC, to_source},
                        {DNNL_ARG_MEAN, tensors.mean},
                        {DNNL_ARG_VARIANCE, tensors.variance},
                        {DNNL_ARG_SCALE, tensors.scale->value},
                        {DNNL_ARG_SHIFT, tensors.shift->value},
                        {DNNL_ARG_DIFF_SCALE, tensors.scale->gradient},
                        {DNNL_ARG_DIFF_SHIFT, tensors.shift->gradient}};
    if (unit.fused()) arguments.emplace_back(DNNL_ARG_WORKSPACE, tensors.decisions);
    build.program.append<dnnl::batch_normalization_backward>(passes.backward, arguments);
    build.give(build.source(unit), {to_source});
}

}  // namespace

void batch_norm(Builder& build, const Unit& unit)
{
    const Tensor source = build.outputs[static_cast<std::size_t>(build.source(unit))];
    const BatchNormPasses passes = converting_errors(build.layer(unit).name, [&] {
        return describe_batch_norm(build.program.engine(), source.desc(), batch_norm_epsilon, unit.fused());
    });
    const Dims channels{build.layer(unit).output.channels};
    const Tensors tensors{.source = source,
                          .mean = build.program.tensor(passes.forward.mean_desc()),
                          .variance = build.program.tensor(passes.forward.variance_desc()),
                          .decisions = build.program.tensor(passes.forward.workspace_desc()),
                          .scale = &build.train(unit.layer, false, plain(channels), channels),
                          .shift = &build.train(unit.layer, true, plain(channels), channels)};
    forward(build, unit, passes, tensors);
    build.tape.emplace_back([=, &build] { backward(build, unit, passes, tensors); });
}

}  // namespace roof::onednn
