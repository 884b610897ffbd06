// What is the same in every version of oneDNN.
#include "workloads/onednn/dnnl.hpp"

#include <stdexcept>

namespace roof::onednn {
namespace {

dnnl::memory::data_type data_type(Precision precision)
{
    return precision == Precision::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

}  // namespace

std::string library_version()
{
    const dnnl::version_t& version = *dnnl::version();
    return std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch);
}

Desc plain(const Dims& dims, Precision precision)
{
    Dims strides(dims.size(), 1);
    for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
    return {dims, data_type(precision), strides};
}

Desc rows(const Dims& dims, Dim apart, Precision precision)
{
    return {dims, data_type(precision), Dims{apart, 1}};
}

Desc any(const Dims& dims, Precision precision)
{
    return {dims, data_type(precision), dnnl::memory::format_tag::any};
}

bool offers_winograd(Precision precision)
{
    const Dims map{2, 64, 56, 56};
    const Convolution shapes{.source = any(map, precision),
                             .weights = {64, 64, 3, 3},
                             .bias = {},
                             .result = map,
                             .window = {.size = 3, .stride = 1, .padding = 1},
                             .precision = precision};
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return !forward_passes(engine, shapes, dnnl::algorithm::convolution_winograd).empty();
}

}  // namespace roof::onednn
