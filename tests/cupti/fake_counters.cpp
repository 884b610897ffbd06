// The counting half of the fake CUPTI: a chip on which every metric counts 10 over a range, in three passes. It
// refuses calls that come out of order. Kernels are those of fake_launch(), or else two. FAKE_CUPTI_FAILS=privileges:
// the user has no rights.
#include "fake_calls.hpp"
#include "struct_sizes.hpp"

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// CUPTI accepts only a struct of the size that its version wants.
template <class Parameters>
bool is_other_size(const Parameters* given, std::string_view name)
{
    return given->structSize != roof::cupti::made::struct_size(name, fake_version());
}

constexpr std::size_t image_size = 16;
constexpr int all_passes = 3;
constexpr std::size_t usual_kernels = 2;

enum class State { off, enabled, configured, started, in_range, ranged };

State state = State::off;
bool by_user = false;
CUcontext counted_context = nullptr;
int pass = 0;
std::size_t ranges = 0;
std::size_t room = 0;                   ///< for ranges
std::size_t launched = 0;               ///< since counting began
std::vector<std::string> pushed_names;  ///< of this pass
std::vector<std::string> all_names;     ///< of the pass with the most ranges
std::size_t in_all_passes = 0;          ///< ranges that every pass has had

CUptiResult go(State from, State to)
{
    if (state != from) return CUPTI_ERROR_INVALID_OPERATION;
    state = to;
    return CUPTI_SUCCESS;
}

bool lacks_rights()
{
    const char* const failing = std::getenv("FAKE_CUPTI_FAILS");
    return failing != nullptr && std::string_view(failing) == "privileges";
}

}  // namespace

extern "C" {

void fake_count(int kernels, std::uintptr_t context)
{
    if (state == State::started && !by_user && reinterpret_cast<std::uintptr_t>(counted_context) == context)
        launched += static_cast<std::size_t>(kernels);
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* given)
{
    if (is_other_size(given, "Profiler_Initialize")) return CUPTI_ERROR_INVALID_PARAMETER;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* asked)
{
    if (is_other_size(asked, "Device_GetChipName")) return CUPTI_ERROR_INVALID_PARAMETER;
    asked->pChipName = "GH100";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* asked)
{
    if (is_other_size(asked, "Profiler_GetCounterAvailability")) return CUPTI_ERROR_INVALID_PARAMETER;
    asked->counterAvailabilityImageSize = image_size;
    return lacks_rights() ? CUPTI_ERROR_INSUFFICIENT_PRIVILEGES : CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* made)
{
    if (is_other_size(made, "Profiler_Host_Initialize")) return CUPTI_ERROR_INVALID_PARAMETER;
    made->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(&state);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* given)
{
    if (is_other_size(given, "Profiler_Host_Deinitialize")) return CUPTI_ERROR_INVALID_PARAMETER;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* added)
{
    if (is_other_size(added, "Profiler_Host_ConfigAddMetrics")) return CUPTI_ERROR_INVALID_PARAMETER;
    return added->numMetrics > 0 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* sized)
{
    if (is_other_size(sized, "Profiler_Host_GetConfigImageSize")) return CUPTI_ERROR_INVALID_PARAMETER;
    sized->configImageSize = image_size;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* taken)
{
    if (is_other_size(taken, "Profiler_Host_GetConfigImage")) return CUPTI_ERROR_INVALID_PARAMETER;
    std::memset(taken->pConfigImage, 1, taken->configImageSize);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params* asked)
{
    if (is_other_size(asked, "Profiler_Host_GetMetricProperties")) return CUPTI_ERROR_INVALID_PARAMETER;
    asked->pDimUnit =
        std::string_view(asked->pMetricName).find("time") != std::string_view::npos ? "nanosecond" : "byte";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetRangeName(CUpti_Profiler_Host_GetRangeName_Params* asked)
{
    if (is_other_size(asked, "Profiler_Host_GetRangeName")) return CUPTI_ERROR_INVALID_PARAMETER;
    asked->pRangeName =
        strdup(by_user ? all_names.at(asked->rangeIndex).c_str() : std::to_string(asked->rangeIndex).c_str());
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* asked)
{
    if (is_other_size(asked, "Profiler_Host_EvaluateToGpuValues")) return CUPTI_ERROR_INVALID_PARAMETER;
    // A range that a pass did not have gives NaN, as an H100 did with CUPTI 13.0.
    const bool is_known = !by_user || asked->rangeIndex < in_all_passes;
    for (std::size_t i = 0; i < asked->numMetrics; ++i)
        asked->pMetricValues[i] = is_known ? 10 : std::numeric_limits<double>::quiet_NaN();
    return asked->rangeIndex < ranges ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* enabled)
{
    if (is_other_size(enabled, "RangeProfiler_Enable")) return CUPTI_ERROR_INVALID_PARAMETER;
    enabled->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(&state);
    counted_context = enabled->ctx;
    pass = 0;
    launched = 0;
    all_names.clear();
    return go(State::off, State::enabled);
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* given)
{
    if (is_other_size(given, "RangeProfiler_Disable")) return CUPTI_ERROR_INVALID_PARAMETER;
    state = State::off;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* sized)
{
    if (is_other_size(sized, "RangeProfiler_GetCounterDataSize")) return CUPTI_ERROR_INVALID_PARAMETER;
    sized->counterDataSize = image_size;
    return sized->maxNumRangeTreeNodes >= sized->maxNumOfRanges ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params* made)
{
    if (is_other_size(made, "RangeProfiler_CounterDataImage_Initialize")) return CUPTI_ERROR_INVALID_PARAMETER;
    return made->counterDataSize == image_size ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* set)
{
    if (is_other_size(set, "RangeProfiler_SetConfig")) return CUPTI_ERROR_INVALID_PARAMETER;
    by_user = set->range == CUPTI_UserRange;
    room = set->maxRangesPerPass;
    const bool is_replay_right = set->replayMode == (by_user ? CUPTI_UserReplay : CUPTI_KernelReplay);
    return is_replay_right ? go(State::enabled, State::configured) : CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* given)
{
    if (is_other_size(given, "RangeProfiler_Start")) return CUPTI_ERROR_INVALID_PARAMETER;
    pushed_names.clear();
    return go(State::configured, State::started);
}

CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* pushed)
{
    if (is_other_size(pushed, "RangeProfiler_PushRange")) return CUPTI_ERROR_INVALID_PARAMETER;
    const std::string name = pushed->pRangeName;
    if (name.empty() || std::set(pushed_names.begin(), pushed_names.end()).contains(name))
        return CUPTI_ERROR_INVALID_PARAMETER;
    pushed_names.push_back(name);
    return go(pushed_names.size() == 1 ? State::started : State::ranged, State::in_range);
}

CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* given)
{
    if (is_other_size(given, "RangeProfiler_PopRange")) return CUPTI_ERROR_INVALID_PARAMETER;
    return go(State::in_range, State::ranged);
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* stopped)
{
    if (is_other_size(stopped, "RangeProfiler_Stop")) return CUPTI_ERROR_INVALID_PARAMETER;
    in_all_passes = pass == 0 ? pushed_names.size() : std::min(in_all_passes, pushed_names.size());
    if (pushed_names.size() > all_names.size()) all_names = pushed_names;
    ++pass;
    stopped->isAllPassSubmitted = !by_user || pass == all_passes ? 1 : 0;
    return go(by_user ? State::ranged : State::started, State::configured);
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* decoded)
{
    if (is_other_size(decoded, "RangeProfiler_DecodeData")) return CUPTI_ERROR_INVALID_PARAMETER;
    ranges = by_user ? all_names.size() : launched > 0 ? launched : usual_kernels;
    decoded->numOfRangeDropped = std::getenv("FAKE_CUPTI_DROPS") != nullptr ? 5 : ranges - std::min(ranges, room);
    return state == State::configured ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* asked)
{
    if (is_other_size(asked, "RangeProfiler_GetCounterDataInfo")) return CUPTI_ERROR_INVALID_PARAMETER;
    asked->numTotalRanges = ranges;
    return CUPTI_SUCCESS;
}

}  // extern "C"
