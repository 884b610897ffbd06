// The half of our own CUPTI that counts: a chip whose every metric counts 10 over a range, in three passes, and which refuses calls that
// come out of order. Two kernels run in every launch. FAKE_CUPTI_FAILS=privileges: the user has no rights.
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t image_size = 16;
constexpr int all_passes = 3;
constexpr std::size_t kernels = 2;

enum class State { off, enabled, configured, started, in_range, ranged };

State state = State::off;
bool by_user = false;
int pass = 0;
std::size_t ranges = 0;

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

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*)
{
    return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* asked)
{
    asked->pChipName = "GH100";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* asked)
{
    asked->counterAvailabilityImageSize = image_size;
    return lacks_rights() ? CUPTI_ERROR_INSUFFICIENT_PRIVILEGES : CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* made)
{
    made->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(&state);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params*)
{
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* added)
{
    return added->numMetrics > 0 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* sized)
{
    sized->configImageSize = image_size;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* taken)
{
    std::memset(taken->pConfigImage, 1, taken->configImageSize);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params* asked)
{
    asked->pDimUnit =
        std::string_view(asked->pMetricName).find("time") != std::string_view::npos ? "nanosecond" : "byte";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetRangeName(CUpti_Profiler_Host_GetRangeName_Params* asked)
{
    asked->pRangeName = strdup(std::to_string(asked->rangeIndex).c_str());
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* asked)
{
    for (std::size_t i = 0; i < asked->numMetrics; ++i) asked->pMetricValues[i] = 10;
    return asked->rangeIndex < ranges ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* enabled)
{
    enabled->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(&state);
    pass = 0;
    return go(State::off, State::enabled);
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*)
{
    state = State::off;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* sized)
{
    sized->counterDataSize = image_size;
    return sized->maxNumRangeTreeNodes >= sized->maxNumOfRanges ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params* made)
{
    return made->counterDataSize == image_size ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* set)
{
    by_user = set->range == CUPTI_UserRange;
    const bool is_replay_right = set->replayMode == (by_user ? CUPTI_UserReplay : CUPTI_KernelReplay);
    return is_replay_right ? go(State::enabled, State::configured) : CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*)
{
    return go(State::configured, State::started);
}

CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* pushed)
{
    return std::string_view(pushed->pRangeName).empty() ? CUPTI_ERROR_INVALID_PARAMETER
                                                        : go(State::started, State::in_range);
}

CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params*)
{
    return go(State::in_range, State::ranged);
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* stopped)
{
    ++pass;
    stopped->isAllPassSubmitted = !by_user || pass == all_passes ? 1 : 0;
    return go(by_user ? State::ranged : State::started, State::configured);
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* decoded)
{
    ranges = by_user ? 1 : kernels;
    decoded->numOfRangeDropped = std::getenv("FAKE_CUPTI_DROPS") != nullptr ? 5 : 0;
    return state == State::configured ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* asked)
{
    asked->numTotalRanges = ranges;
    return CUPTI_SUCCESS;
}

}  // extern "C"
