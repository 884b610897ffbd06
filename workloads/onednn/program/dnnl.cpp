// The code that is the same for every version of oneDNN.
#include "workloads/onednn/program/dnnl.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
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

Precision precision_of(const Desc& desc)
{
    if (data_type_of(desc) == dnnl::memory::data_type::f32) return Precision::fp32;
    if (data_type_of(desc) == dnnl::memory::data_type::bf16) return Precision::bf16;
    throw std::logic_error("a tensor that is neither fp32 nor bf16");
}

std::string precision_name(const Desc& desc)
{
    switch (data_type_of(desc)) {
        case dnnl::memory::data_type::f32:
            return "fp32";
        case dnnl::memory::data_type::bf16:
            return "bf16";
        default:
            return "bytes";
    }
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

Desc in_format(const Dims& dims, dnnl::memory::format_tag format, Precision precision)
{
    return {dims, data_type(precision), format};
}

Desc any(const Dims& dims, Precision precision)
{
    return {dims, data_type(precision), dnnl::memory::format_tag::any};
}

std::string layout_name(const Desc& desc)
{
    if (dims_of(desc).empty() || desc.get_size() == 0) return "nothing";
    const Blocking blocking = blocking_of(desc);
    if (blocking.strides.empty()) return "packed";
    std::vector<std::size_t> order(blocking.strides.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t dim) { return blocking.strides[dim]; });
    const std::string precision = precision_name(desc);
    std::string name;
    for (const std::size_t dim : order) {
        const bool cut = std::ranges::find(blocking.block_dims, static_cast<Dim>(dim)) != blocking.block_dims.end();
        name += static_cast<char>((cut ? 'A' : 'a') + static_cast<int>(dim));
    }
    for (std::size_t i = 0; i < blocking.blocks.size(); ++i)
        name += std::to_string(blocking.blocks[i]) + static_cast<char>('a' + static_cast<int>(blocking.block_dims[i]));
    return precision + " " + name;
}

bool library_offers_winograd(Precision precision)
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
