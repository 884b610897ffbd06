#include "ert/cupti/range_profiler.hpp"

#include "ert/base/error.hpp"
#include "ert/cupti/parameters.hpp"
#include "ert/gpu/library.hpp"

#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include <array>
#include <utility>

namespace roof::cupti {
namespace {

void initialise_profiler(const Cupti& cupti)
{
    auto asked = parameters<CUpti_Profiler_Initialize_Params>(CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
    cupti.call<decltype(cuptiProfilerInitialize)>("cuptiProfilerInitialize", &asked);
}

/// This call fails if the user lacks the rights.
Image availability_of(const Cupti& cupti, CUcontext context)
{
    auto asked = parameters<CUpti_Profiler_GetCounterAvailability_Params>(counter_availability.of(cupti.version()));
    asked.ctx = context;
    cupti.call<decltype(cuptiProfilerGetCounterAvailability)>("cuptiProfilerGetCounterAvailability", &asked);
    Image image(asked.counterAvailabilityImageSize);
    asked.pCounterAvailabilityImage = image.data();
    cupti.call<decltype(cuptiProfilerGetCounterAvailability)>("cuptiProfilerGetCounterAvailability", &asked);
    return image;
}

}  // namespace

/// The driver is opened at run time, so that roof starts without one.
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
    cupti.call<decltype(cuptiDeviceGetChipName)>("cuptiDeviceGetChipName", &asked);
    return asked.pChipName;
}

RangeProfiler::RangeProfiler(std::shared_ptr<const Cupti> cupti, std::size_t device, CUcontext context)
    : cupti_(std::move(cupti)), context_(context)
{
    initialise_profiler(*cupti_);
    chip_ = chip_of(*cupti_, device);
    availability_ = availability_of(*cupti_, context_);
}

std::unique_ptr<Counting> RangeProfiler::begin_kernels(const std::vector<std::string>& metrics,
                                                       std::size_t max_kernels) const
{
    auto counting =
        std::make_unique<Counting>(cupti_, chip_, availability_, context_, metrics, kernels_alone(max_kernels));
    counting->start();
    return counting;
}

std::vector<CountedRange> RangeProfiler::count_kernels(const std::function<void()>& work,
                                                       const std::vector<std::string>& metrics,
                                                       std::size_t max_kernels) const
{
    const std::unique_ptr<Counting> counting = begin_kernels(metrics, max_kernels);
    work();
    counting->stop();
    return counting->counted();
}

std::vector<CountedRange> RangeProfiler::count_stretches(const std::function<void(Counting&)>& work,
                                                         const std::vector<std::string>& metrics,
                                                         std::size_t max_stretches) const
{
    Counting counting(cupti_, chip_, availability_, context_, metrics, stretches(max_stretches));
    for (bool is_done = false; !is_done;) {
        counting.start();
        work(counting);
        is_done = counting.stop();
    }
    return counting.counted();
}

CountedRange RangeProfiler::count_whole(const std::function<void()>& work, const std::string& name,
                                        const std::vector<std::string>& metrics) const
{
    const auto whole = [&](Counting& counting) {
        counting.push(name);
        work();
        counting.pop();
    };
    std::vector<CountedRange> counted = count_stretches(whole, metrics, 1);
    if (counted.empty()) throw Error("nothing was counted: no kernel ran");
    return {name, std::move(counted.front().values)};
}

}  // namespace roof::cupti
