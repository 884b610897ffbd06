// What CUPTI's versions want in structSize: the macros …_Params_STRUCT_SIZE, compiled with the headers of NVIDIA's
// wheels nvidia-cuda-cupti-cu12 12.6.80, 12.8.90, 12.9.79 and
// nvidia-cuda-cupti 13.0.85, 13.1.75, 13.1.115, 13.2.23, 13.3.75, 13.4.58, 13.5.25. The libraries of the first six were
// asked, too: without a driver they answer CUPTI_ERROR_INVALID_PARAMETER to every other size of the calls that look at
// it first, but that 13.1 also takes the size that 13.0 has.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace roof::cupti::made {

/// As cuptiGetVersion() tells them.
inline constexpr std::array<std::uint32_t, 10> known_versions{24,     26,     28,     130001, 130100,
                                                              130101, 130200, 130301, 130400, 130500};

struct StructSizes {
    std::string_view name;  ///< without CUpti_ and _Params
    std::array<std::size_t, known_versions.size()> sizes;
};

inline constexpr std::array struct_sizes{
    StructSizes{"Device_GetChipName", {32, 32, 32, 32, 32, 32, 32, 32, 32, 32}},
    StructSizes{"Profiler_GetCounterAvailability", {40, 40, 40, 40, 40, 41, 41, 41, 41, 41}},
    StructSizes{"Profiler_Host_ConfigAddMetrics", {40, 40, 40, 40, 40, 40, 40, 40, 40, 40}},
    StructSizes{"Profiler_Host_Deinitialize", {24, 24, 24, 24, 24, 24, 24, 24, 24, 24}},
    StructSizes{"Profiler_Host_EvaluateToGpuValues", {72, 72, 72, 72, 72, 72, 72, 72, 72, 72}},
    StructSizes{"Profiler_Host_GetConfigImageSize", {32, 32, 32, 32, 32, 32, 32, 32, 32, 32}},
    StructSizes{"Profiler_Host_GetConfigImage", {40, 40, 40, 40, 40, 40, 40, 40, 40, 40}},
    StructSizes{"Profiler_Host_GetMetricProperties", {60, 60, 60, 60, 64, 64, 64, 64, 64, 64}},
    StructSizes{"Profiler_Host_GetNumOfPasses", {40, 40, 40, 40, 40, 40, 40, 40, 40, 40}},
    StructSizes{"Profiler_Host_GetRangeName", {56, 56, 56, 56, 56, 56, 56, 56, 56, 56}},
    StructSizes{"Profiler_Host_GetSupportedChips", {32, 32, 32, 32, 32, 32, 32, 32, 32, 32}},
    StructSizes{"Profiler_Host_Initialize", {48, 48, 48, 48, 48, 48, 56, 56, 56, 56}},
    StructSizes{"Profiler_Initialize", {16, 16, 16, 16, 16, 16, 16, 16, 16, 16}},
    StructSizes{"RangeProfiler_CounterDataImage_Initialize", {40, 40, 40, 40, 40, 40, 40, 40, 40, 40}},
    StructSizes{"RangeProfiler_DecodeData", {32, 32, 32, 32, 32, 32, 32, 32, 32, 32}},
    StructSizes{"RangeProfiler_Disable", {24, 24, 24, 24, 24, 24, 24, 24, 24, 24}},
    StructSizes{"RangeProfiler_Enable", {32, 32, 32, 32, 32, 32, 32, 32, 36, 36}},
    StructSizes{"RangeProfiler_GetCounterDataInfo", {40, 40, 40, 40, 40, 40, 40, 40, 40, 40}},
    StructSizes{"RangeProfiler_GetCounterDataSize", {64, 64, 64, 64, 64, 64, 64, 64, 64, 64}},
    StructSizes{"RangeProfiler_PopRange", {24, 24, 24, 24, 24, 24, 24, 24, 24, 24}},
    StructSizes{"RangeProfiler_PushRange", {32, 32, 32, 32, 32, 32, 32, 32, 32, 32}},
    StructSizes{"RangeProfiler_SetConfig", {90, 90, 90, 90, 90, 90, 90, 90, 90, 90}},
    StructSizes{"RangeProfiler_Start", {24, 24, 24, 24, 24, 24, 24, 24, 24, 24}},
    StructSizes{"RangeProfiler_Stop", {41, 41, 41, 41, 41, 41, 41, 41, 41, 41}},
};

/// Of the newest known version that is not newer; 0 for a name that is not in the table.
constexpr std::size_t struct_size(std::string_view name, std::uint32_t version)
{
    const auto newer = std::upper_bound(known_versions.begin(), known_versions.end(), version);
    const auto column = static_cast<std::size_t>(std::max(newer - known_versions.begin(), std::ptrdiff_t{1}) - 1);
    for (const StructSizes& one : struct_sizes) {
        if (one.name == name) return one.sizes[column];
    }
    return 0;
}

}  // namespace roof::cupti::made
