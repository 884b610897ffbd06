#include "workloads/onednn/convolution_own.hpp"

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
    const DirectConvolution* direct = std::get_if<DirectConvolution>(&convolution);
    return direct != nullptr ? direct->name() : winograd_implementation();
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
