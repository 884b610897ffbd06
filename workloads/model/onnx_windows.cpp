// Shapes of what windows slide over an input: convolutions and pools.
#include "workloads/model/onnx_tensors.hpp"

#include <algorithm>

namespace roof::model::onnx_file {
namespace {

/// An attribute with a number for each axis, from `least` to 2^31. Throws InputError.
Numbers per_axis(const Node& node, const std::string& name, std::size_t axes, long long least)
{
    Numbers found = node.numbers(name, Numbers(axes, least));
    const bool fits = std::ranges::all_of(found, [&](long long one) { return one >= least && one <= 1LL << 31; });
    if (found.size() != axes || !fits) fail(node, "has " + name + " of " + text(found));
    return found;
}

/// The extents behind batch and channels of a window that slides over the input.
Numbers slid(const Node& node, const Numbers& kernel, bool ceil, const Tensors& tensors)
{
    const Numbers& in = tensors.dims(node, 0);
    const std::size_t axes = kernel.size();
    if (in.size() != axes + 2) fail(node, "reads " + text(in));
    const Numbers strides = per_axis(node, "strides", axes, 1), dilations = per_axis(node, "dilations", axes, 1);
    const Numbers pads = per_axis(node, "pads", 2 * axes, 0);
    const std::string automatic = node.word("auto_pad", "NOTSET");
    Numbers made;
    for (std::size_t k = 0; k < axes; ++k) {
        const long long extent = dilations[k] * (kernel[k] - 1) + 1;
        const bool keeps = automatic.starts_with("SAME");
        const long long padded = in[k + 2] + (automatic == "NOTSET" ? pads[k] + pads[k + axes] : 0);
        if (!keeps && padded < extent) fail(node, "has a window that does not fit into " + text(in));
        long long outputs = keeps ? (in[k + 2] + strides[k] - 1) / strides[k]
                                  : (padded - extent + (ceil ? strides[k] - 1 : 0)) / strides[k] + 1;
        if (ceil && !keeps && (outputs - 1) * strides[k] >= in[k + 2] + pads[k]) --outputs;
        made.push_back(outputs);
    }
    return made;
}

Numbers kernel_of(const Node& node, const Tensors& tensors)
{
    const Numbers& weight = tensors.dims(node, 1);
    if (weight.size() < 3) fail(node, "has weights of " + text(weight));
    return {weight.begin() + 2, weight.end()};
}
Numbers with_front(const Numbers& front, const Numbers& rest)
{
    Numbers made = front;
    made.insert(made.end(), rest.begin(), rest.end());
    return made;
}

}  // namespace

Result convolution(const Node& node, const Tensors& tensors)
{
    return with_front({tensors.dims(node, 0).at(0), tensors.dims(node, 1).at(0)},
                      slid(node, kernel_of(node, tensors), false, tensors));
}
Result transposed_convolution(const Node& node, const Tensors& tensors)
{
    const Numbers& in = tensors.dims(node, 0);
    const Numbers kernel = kernel_of(node, tensors);
    const std::size_t axes = kernel.size();
    const Numbers strides = per_axis(node, "strides", axes, 1), dilations = per_axis(node, "dilations", axes, 1);
    const Numbers pads = per_axis(node, "pads", 2 * axes, 0), more = per_axis(node, "output_padding", axes, 0);
    Numbers made{in.at(0), tensors.dims(node, 1).at(1) * node.number("group", 1)};
    for (std::size_t k = 0; k < axes; ++k)
        made.push_back((in.at(k + 2) - 1) * strides[k] + dilations[k] * (kernel[k] - 1) + 1 + more[k] - pads[k] -
                       pads[k + axes]);
    return made;
}
Result pool(const Node& node, const Tensors& tensors)
{
    const Numbers& in = tensors.dims(node, 0);
    if (in.size() < 3) fail(node, "reads " + text(in));
    return with_front({in.at(0), in.at(1)}, slid(node, per_axis(node, "kernel_shape", in.size() - 2, 1),
                                                 node.number("ceil_mode", 0) == 1, tensors));
}
Result global_pool(const Node& node, const Tensors& tensors)
{
    Numbers made = tensors.dims(node, 0);
    for (std::size_t axis = 2; axis < made.size(); ++axis) made[axis] = 1;
    return made;
}

}  // namespace roof::model::onnx_file
