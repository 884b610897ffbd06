#include "ert/cupti/counting.hpp"

#include "ert/base/error.hpp"
#include "ert/cupti/parameters.hpp"

#include <utility>

namespace roof::cupti {

/// A call whose only argument is the profiler. `size`: the macro of the struct, which is less than its sizeof where it
/// ends in padding, and CUPTI takes no other.
template <class Parameters, class Function>
Parameters Counting::act(const char* name, std::size_t size) const
{
    auto given = parameters<Parameters>(size);
    given.pRangeProfilerObject = profiler_;
    cupti_->call<Function>(name, &given);
    return given;
}

Counting::Counting(std::shared_ptr<const Cupti> cupti, const std::string& chip, const Image& availability,
                   CUcontext context, std::vector<std::string> metrics, const CountingMode& mode)
    : cupti_(std::move(cupti)),
      metrics_(std::move(metrics)),
      chip_(cupti_, chip, availability),
      configuration_(chip_.configuration(metrics_))
{
    auto enabled = parameters<CUpti_RangeProfiler_Enable_Params>(range_profiler_enabling.of(cupti_->version()));
    enabled.ctx = context;
    cupti_->call<decltype(cuptiRangeProfilerEnable)>("cuptiRangeProfilerEnable", &enabled);
    profiler_ = enabled.pRangeProfilerObject;
    try {
        allocate_image(mode.max_ranges);
        configure(mode);
    } catch (...) {
        disable();
        throw;
    }
}

Counting::~Counting()
{
    disable();
}

void Counting::start()
{
    act<CUpti_RangeProfiler_Start_Params, decltype(cuptiRangeProfilerStart)>(
        "cuptiRangeProfilerStart", CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
}

bool Counting::stop()
{
    const auto stopped = act<CUpti_RangeProfiler_Stop_Params, decltype(cuptiRangeProfilerStop)>(
        "cuptiRangeProfilerStop", CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
    return stopped.isAllPassSubmitted != 0;
}

void Counting::push(const std::string& name)
{
    auto pushed = parameters<CUpti_RangeProfiler_PushRange_Params>(CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE);
    pushed.pRangeProfilerObject = profiler_;
    pushed.pRangeName = name.c_str();
    cupti_->call<decltype(cuptiRangeProfilerPushRange)>("cuptiRangeProfilerPushRange", &pushed);
}

void Counting::pop()
{
    act<CUpti_RangeProfiler_PopRange_Params, decltype(cuptiRangeProfilerPopRange)>(
        "cuptiRangeProfilerPopRange", CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE);
}

std::vector<CountedRange> Counting::counted()
{
    const auto decoded = act<CUpti_RangeProfiler_DecodeData_Params, decltype(cuptiRangeProfilerDecodeData)>(
        "cuptiRangeProfilerDecodeData", CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);
    if (decoded.numOfRangeDropped > 0)
        throw Error(std::to_string(decoded.numOfRangeDropped) +
                    " kernels or stretches more than could be counted at once");
    std::vector<CountedRange> found;
    for (std::size_t i = 0; i < ranges(); ++i)
        found.push_back({chip_.range_name(image_, i), chip_.values(image_, i, metrics_)});
    return found;
}

std::size_t Counting::ranges() const
{
    auto asked = parameters<CUpti_RangeProfiler_GetCounterDataInfo_Params>(
        CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE);
    asked.pCounterDataImage = image_.data();
    asked.counterDataImageSize = image_.size();
    cupti_->call<decltype(cuptiRangeProfilerGetCounterDataInfo)>("cuptiRangeProfilerGetCounterDataInfo", &asked);
    return asked.numTotalRanges;
}

void Counting::allocate_image(std::size_t max)
{
    std::vector<const char*> names = pointers(metrics_);
    auto sized = parameters<CUpti_RangeProfiler_GetCounterDataSize_Params>(
        CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);
    sized.pRangeProfilerObject = profiler_;
    sized.pMetricNames = names.data();
    sized.numMetrics = names.size();
    sized.maxNumOfRanges = max;
    sized.maxNumRangeTreeNodes = static_cast<std::uint32_t>(max);
    cupti_->call<decltype(cuptiRangeProfilerGetCounterDataSize)>("cuptiRangeProfilerGetCounterDataSize", &sized);
    image_.resize(sized.counterDataSize);

    auto made = parameters<CUpti_RangeProfiler_CounterDataImage_Initialize_Params>(
        CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
    made.pRangeProfilerObject = profiler_;
    made.counterDataSize = image_.size();
    made.pCounterData = image_.data();
    cupti_->call<decltype(cuptiRangeProfilerCounterDataImageInitialize)>("cuptiRangeProfilerCounterDataImageInitialize",
                                                                         &made);
}

void Counting::configure(const CountingMode& mode)
{
    auto set = parameters<CUpti_RangeProfiler_SetConfig_Params>(CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
    set.pRangeProfilerObject = profiler_;
    set.configSize = configuration_.size();
    set.pConfig = configuration_.data();
    set.counterDataImageSize = image_.size();
    set.pCounterDataImage = image_.data();
    set.range = mode.range;
    set.replayMode = mode.replay;
    set.maxRangesPerPass = mode.max_ranges;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.targetNestingLevel = 1;
    cupti_->call<decltype(cuptiRangeProfilerSetConfig)>("cuptiRangeProfilerSetConfig", &set);
}

void Counting::disable() noexcept
{
    auto left = parameters<CUpti_RangeProfiler_Disable_Params>(CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
    left.pRangeProfilerObject = profiler_;
    cupti_->function<decltype(cuptiRangeProfilerDisable)>("cuptiRangeProfilerDisable")(&left);
}

}  // namespace roof::cupti
