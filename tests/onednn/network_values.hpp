// What a CPU network has trained, in PyTorch's shapes: OIHW, [out][in], [channels].
#pragma once

#include "workloads/onednn/step.hpp"

#include <cstddef>
#include <vector>

namespace roof::onednn {

inline std::vector<float> values_of(const Tensor& tensor, const Desc& layout)
{
    std::vector<float> values(layout.get_size() / sizeof(float));
    dnnl::memory from = tensor.memory;
    dnnl::memory to(layout, from.get_engine(), values.data());
    dnnl::stream stream(from.get_engine());
    dnnl::reorder(from, to).execute(stream, from, to);
    return values;
}

inline std::vector<float> value_of(const Network& network, std::size_t parameter)
{
    const Trained& trained = network.trained()[parameter];
    return values_of(trained.value, plain(trained.dims));
}

/// The gradient of the last backward pass, without weight decay.
inline std::vector<float> gradient_of(const Network& network, std::size_t parameter)
{
    const Trained& trained = network.trained()[parameter];
    if (!trained.factors) return values_of(trained.gradient, plain(trained.dims));
    LinearShape shape = trained.factors->shape;
    shape.row = shape.inputs;
    std::vector<float> values(static_cast<std::size_t>(shape.inputs) * static_cast<std::size_t>(shape.outputs));
    linear_backward_weights(shape, trained.factors->source.elements(), trained.factors->result_gradient.elements(),
                            values.data());
    return values;
}

/// The running statistics of a batch norm.
struct RunningStatistics {
    std::string layer;
    std::vector<float> mean, variance;
};

inline std::vector<RunningStatistics> statistics_of(const Network& network)
{
    std::vector<RunningStatistics> all;
    for (const Running& one : network.running())
        all.push_back({one.layer, values_of(one.mean, one.mean.desc()), values_of(one.variance, one.variance.desc())});
    return all;
}

}  // namespace roof::onednn
