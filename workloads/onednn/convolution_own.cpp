#include "workloads/onednn/convolution_own.hpp"

namespace roof::onednn {
namespace {

using Tag = dnnl::memory::format_tag;

Desc fp32(const Dims& dims, Tag of_sixteen, Tag of_eight)
{
    return {dims, dnnl::memory::data_type::f32, direct_lanes() == 16 ? of_sixteen : of_eight};
}

}  // namespace

std::string name_of(const OwnConvolution& convolution)
{
    return std::holds_alternative<DirectConvolution>(convolution) ? direct_implementation() : winograd_implementation();
}

Desc own_map_layout(const Dims& dims)
{
    return fp32(dims, Tag::nChw16c, Tag::nChw8c);
}

Desc own_weights_layout(const Dims& dims)
{
    return fp32(dims, Tag::OIhw16i16o, Tag::OIhw8i8o);
}

}  // namespace roof::onednn
