#include "workloads/onednn/convolution/own.hpp"

#include <algorithm>
#include <vector>

namespace roof::onednn {
namespace {

using Tag = dnnl::memory::format_tag;

Tag by_lanes(Tag of_sixteen, Tag of_eight)
{
    return direct_lanes() == 16 ? of_sixteen : of_eight;
}

}  // namespace

std::string name_of(const OwnConvolution& convolution)
{
    return std::visit([](const auto& one) { return one.name(); }, convolution);
}

void append_own(Program& program, const OwnConvolution& convolution, OwnPass pass, OwnTensors tensors)
{
    const std::size_t numbers = std::visit([=](const auto& one) { return one.scratch(pass); }, convolution);
    // A pass that needs none has a little, for a tensor is never empty.
    tensors.scratch = program.tensor(plain({static_cast<Dim>(std::max<std::size_t>(1, numbers))}));
    std::vector<Tensor> used{tensors.source, tensors.weights, tensors.result, tensors.scratch};
    if (tensors.has_bias) used.push_back(tensors.bias);
    program.append([=] { std::visit([&](const auto& one) { one.run(pass, tensors); }, convolution); }, used,
                   name_of(convolution));
}

Desc own_map_layout(const Desc& map)
{
    return {dims_of(map), data_type_of(map), by_lanes(Tag::nChw16c, Tag::nChw8c)};
}

Desc own_weights_layout(const Dims& dims)
{
    return {dims, dnnl::memory::data_type::f32, by_lanes(Tag::OIhw16i16o, Tag::OIhw8i8o)};
}

}  // namespace roof::onednn
