#include "workloads/onednn/convolution/executed.hpp"

#include "workloads/model/work.hpp"

#include <algorithm>
#include <cctype>

namespace roof::onednn {
namespace {

constexpr std::string_view winograd_mark = "wino_";

/// m of "jit_wino_mxr:avx512_core"; 0 if the name is no Winograd's.
int winograd_tile(const std::string& implementation)
{
    const std::size_t mark = implementation.find(winograd_mark);
    if (mark == std::string::npos) return 0;
    const char digit = implementation[std::min(mark + winograd_mark.size(), implementation.size() - 1)];
    return std::isdigit(static_cast<unsigned char>(digit)) != 0 ? digit - '0' : 0;
}

/// This project's own computes of them what they need, the library's whole ones.
model::CutTiles cut_tiles(const std::string& implementation)
{
    return implementation.starts_with("roof:") ? model::CutTiles::by_need : model::CutTiles::as_whole;
}

}  // namespace

std::string_view algorithm_of(const std::string& implementation)
{
    if (winograd_tile(implementation) > 0) return "winograd";
    return implementation.find("gemm") != std::string::npos ? "gemm" : "direct";
}

Flops executed_flops(const std::string& implementation, const model::Graph& graph, int layer, int batch)
{
    const auto flops = [](long long multiply_adds) { return Flops{2.0 * static_cast<double>(multiply_adds)}; };
    if (const int tile = winograd_tile(implementation); tile > 0)
        return flops(model::winograd_multiply_adds(graph, layer, batch, tile, cut_tiles(implementation)));
    if (!implementation.starts_with("jit") && !implementation.starts_with("roof:direct")) return {};
    return flops(model::work_of(graph, layer, batch, Precision::fp32).multiply_adds_unpadded);
}

}  // namespace roof::onednn
