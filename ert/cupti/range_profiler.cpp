#include "ert/cupti/range_profiler.hpp"

#include "ert/base/error.hpp"
#include "ert/cupti/parameters.hpp"
#include "ert/gpu/library.hpp"

#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <array>

namespace roof::cupti {
namespace {

void initialise_profiler(const Cupti& cupti)
{
    auto asked = parameters<CUpti_Profiler_Initialize_Params>(CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
    cupti.check(cupti.function<decltype(cuptiProfilerInitialize)>("cuptiProfilerInitialize")(&asked),
                "cuptiProfilerInitialize");
}

/// Where the user lacks the rights, it is this call that says so.
Image availability_of(const Cupti& cupti, CUcontext context)
{
    auto asked = parameters<CUpti_Profiler_GetCounterAvailability_Params>(
        CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE);
    asked.ctx = context;
    const auto ask =
        cupti.function<decltype(cuptiProfilerGetCounterAvailability)>("cuptiProfilerGetCounterAvailability");
    cupti.check(ask(&asked), "cuptiProfilerGetCounterAvailability");
    Image image(asked.counterAvailabilityImageSize);
    asked.pCounterAvailabilityImage = image.data();
    cupti.check(ask(&asked), "cuptiProfilerGetCounterAvailability");
    return image;
}

/// How ranges are made and repeated.
struct Mode {
    CUpti_ProfilerRange range;
    CUpti_ProfilerReplayMode replay;
    std::size_t most_ranges;
};

/// The Range Profiler at work on one context, from enabling to disabling.
class Counting {
  public:
    Counting(const Cupti& cupti, CUcontext context, const Image& configuration, const std::vector<std::string>& metrics,
             const Mode& mode)
        : cupti_(cupti), configuration_(configuration)
    {
        auto enabled = parameters<CUpti_RangeProfiler_Enable_Params>(CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE);
        enabled.ctx = context;
        call<decltype(cuptiRangeProfilerEnable)>("cuptiRangeProfilerEnable", enabled);
        profiler_ = enabled.pRangeProfilerObject;
        try {
            make_room(metrics, mode.most_ranges);
            configure(mode);
        } catch (...) {
            disable();
            throw;
        }
    }
    ~Counting() { disable(); }
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;

    void start()
    {
        act<CUpti_RangeProfiler_Start_Params, decltype(cuptiRangeProfilerStart)>("cuptiRangeProfilerStart");
    }

    /// Whether all passes have been done.
    bool stop()
    {
        return act<CUpti_RangeProfiler_Stop_Params, decltype(cuptiRangeProfilerStop)>("cuptiRangeProfilerStop")
                   .isAllPassSubmitted != 0;
    }

    void push(const std::string& name)
    {
        auto pushed =
            parameters<CUpti_RangeProfiler_PushRange_Params>(CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE);
        pushed.pRangeProfilerObject = profiler_;
        pushed.pRangeName = name.c_str();
        call<decltype(cuptiRangeProfilerPushRange)>("cuptiRangeProfilerPushRange", pushed);
    }

    void pop()
    {
        act<CUpti_RangeProfiler_PopRange_Params, decltype(cuptiRangeProfilerPopRange)>("cuptiRangeProfilerPopRange");
    }

    /// What was counted, as CUPTI keeps it. Throws Error if there was more than there was room for.
    const Image& decode()
    {
        const auto decoded = act<CUpti_RangeProfiler_DecodeData_Params, decltype(cuptiRangeProfilerDecodeData)>(
            "cuptiRangeProfilerDecodeData");
        if (decoded.numOfRangeDropped > 0)
            throw Error(std::to_string(decoded.numOfRangeDropped) + " kernels more than could be counted at once");
        return counted_;
    }

    std::size_t ranges() const
    {
        auto asked = parameters<CUpti_RangeProfiler_GetCounterDataInfo_Params>(
            CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE);
        asked.pCounterDataImage = counted_.data();
        asked.counterDataImageSize = counted_.size();
        call<decltype(cuptiRangeProfilerGetCounterDataInfo)>("cuptiRangeProfilerGetCounterDataInfo", asked);
        return asked.numTotalRanges;
    }

  private:
    template <class Function, class Parameters>
    void call(const char* name, Parameters& given) const
    {
        cupti_.check(cupti_.function<Function>(name)(&given), name);
    }

    /// A call that is told of nothing but the profiler.
    template <class Parameters, class Function>
    Parameters act(const char* name) const
    {
        auto given = parameters<Parameters>(sizeof(Parameters));
        given.pRangeProfilerObject = profiler_;
        call<Function>(name, given);
        return given;
    }

    void make_room(const std::vector<std::string>& metrics, std::size_t most)
    {
        std::vector<const char*> names = pointers(metrics);
        auto sized = parameters<CUpti_RangeProfiler_GetCounterDataSize_Params>(
            CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);
        sized.pRangeProfilerObject = profiler_;
        sized.pMetricNames = names.data();
        sized.numMetrics = names.size();
        sized.maxNumOfRanges = most;
        sized.maxNumRangeTreeNodes = static_cast<std::uint32_t>(most);
        call<decltype(cuptiRangeProfilerGetCounterDataSize)>("cuptiRangeProfilerGetCounterDataSize", sized);
        counted_.resize(sized.counterDataSize);

        auto made = parameters<CUpti_RangeProfiler_CounterDataImage_Initialize_Params>(
            CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
        made.pRangeProfilerObject = profiler_;
        made.counterDataSize = counted_.size();
        made.pCounterData = counted_.data();
        call<decltype(cuptiRangeProfilerCounterDataImageInitialize)>("cuptiRangeProfilerCounterDataImageInitialize",
                                                                     made);
    }

    void configure(const Mode& mode)
    {
        auto set = parameters<CUpti_RangeProfiler_SetConfig_Params>(CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
        set.pRangeProfilerObject = profiler_;
        set.configSize = configuration_.size();
        set.pConfig = configuration_.data();
        set.counterDataImageSize = counted_.size();
        set.pCounterDataImage = counted_.data();
        set.range = mode.range;
        set.replayMode = mode.replay;
        set.maxRangesPerPass = mode.most_ranges;
        set.numNestingLevels = 1;
        set.minNestingLevel = 1;
        set.targetNestingLevel = 1;
        call<decltype(cuptiRangeProfilerSetConfig)>("cuptiRangeProfilerSetConfig", set);
    }

    void disable() noexcept
    {
        auto left = parameters<CUpti_RangeProfiler_Disable_Params>(CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
        left.pRangeProfilerObject = profiler_;
        cupti_.function<decltype(cuptiRangeProfilerDisable)>("cuptiRangeProfilerDisable")(&left);
    }

    const Cupti& cupti_;
    const Image& configuration_;
    CUpti_RangeProfiler_Object* profiler_ = nullptr;
    Image counted_;
};

}  // namespace

/// The driver is not linked: a process without one must start.
CUcontext current_context()
{
    const std::array<std::string, 1> names{"libcuda.so.1"};
    const std::optional<gpu::Library> driver = gpu::Library::open(names);
    if (!driver) throw Unsupported("there is no CUDA driver here");
    CUcontext context = nullptr;
    if (driver->function<CUresult(CUcontext*)>("cuCtxGetCurrent")(&context) != CUDA_SUCCESS || context == nullptr)
        throw Unsupported("this thread has no CUDA context whose kernels could be counted");
    return context;
}

std::string chip_of(const Cupti& cupti, std::size_t device)
{
    auto asked = parameters<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
    asked.deviceIndex = device;
    cupti.check(cupti.function<decltype(cuptiDeviceGetChipName)>("cuptiDeviceGetChipName")(&asked),
                "cuptiDeviceGetChipName");
    return asked.pChipName;
}

RangeProfiler::RangeProfiler(std::shared_ptr<const Cupti> cupti, std::size_t device, CUcontext context)
    : cupti_(std::move(cupti)), context_(context)
{
    initialise_profiler(*cupti_);
    chip_ = chip_of(*cupti_, device);
    availability_ = availability_of(*cupti_, context_);
}

std::vector<CountedRange> RangeProfiler::count_kernels(const std::function<void()>& work,
                                                       const std::vector<std::string>& metrics, std::size_t most) const
{
    Chip chip(cupti_, chip_, availability_);
    const Image configuration = chip.configuration(metrics);
    Counting counting(*cupti_, context_, configuration, metrics, {CUPTI_AutoRange, CUPTI_KernelReplay, most});
    counting.start();
    work();
    counting.stop();
    const Image& counted = counting.decode();
    std::vector<CountedRange> ranges;
    for (std::size_t i = 0; i < counting.ranges(); ++i)
        ranges.push_back({chip.range_name(counted, i), chip.values(counted, i, metrics)});
    return ranges;
}

CountedRange RangeProfiler::count_whole(const std::function<void()>& work, const std::string& name,
                                        const std::vector<std::string>& metrics) const
{
    Chip chip(cupti_, chip_, availability_);
    const Image configuration = chip.configuration(metrics);
    Counting counting(*cupti_, context_, configuration, metrics, {CUPTI_UserRange, CUPTI_UserReplay, 1});
    for (bool is_done = false; !is_done;) {
        counting.start();
        counting.push(name);
        work();
        counting.pop();
        is_done = counting.stop();
    }
    const Image& counted = counting.decode();
    if (counting.ranges() == 0) throw Error("nothing was counted: no kernel ran");
    return {name, chip.values(counted, 0, metrics)};
}

}  // namespace roof::cupti
