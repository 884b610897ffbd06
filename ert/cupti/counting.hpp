// CUPTI's Range Profiler on one context, from enabling to disabling. The order of calls is start, (push, pop)…, stop,
// counted; start to stop is repeated until all passes are done.
#pragma once

#include "ert/cupti/chips.hpp"
#include "ert/cupti/library.hpp"

#include <cuda.h>
#include <cupti_range_profiler.h>

#include <memory>
#include <string>
#include <vector>

namespace roof::cupti {

/// The counts of one kernel, of a stretch of work, or of all of it.
struct CountedRange {
    std::string name;  ///< the number of the kernel in the order of launches, from 0; or the name that was pushed
    std::vector<double> values;  ///< of the metrics, in SI units without prefix
};

/// How ranges are made and repeated.
struct CountingMode {
    CUpti_ProfilerRange range;
    CUpti_ProfilerReplayMode replay;
    std::size_t max_ranges;
};

/// Each kernel is a range. CUPTI repeats it, and saves and restores what it writes.
constexpr CountingMode kernels_alone(std::size_t max)
{
    return {CUPTI_AutoRange, CUPTI_KernelReplay, max};
}

/// A range is the work between push and pop. The caller repeats it until stop() returns true.
constexpr CountingMode stretches(std::size_t max)
{
    return {CUPTI_UserRange, CUPTI_UserReplay, max};
}

class Counting {
  public:
    /// `availability`: what may be counted on the context. Throws Unsupported if the user has no rights, Error if the
    /// chip cannot count the metrics.
    Counting(std::shared_ptr<const Cupti> cupti, const std::string& chip, const Image& availability, CUcontext context,
             std::vector<std::string> metrics, const CountingMode& mode);
    ~Counting();
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;

    void start();
    /// Whether all passes have been done.
    bool stop();
    void push(const std::string& name);
    void pop();

    /// Call once, after the last stop(). In the order of the ranges. Throws Error if there were more than the maximum.
    std::vector<CountedRange> counted();

  private:
    template <class Parameters, class Function>
    Parameters act(const char* name, std::size_t size) const;
    void allocate_image(std::size_t max);
    void configure(const CountingMode& mode);
    std::size_t ranges() const;
    void disable() noexcept;

    std::shared_ptr<const Cupti> cupti_;
    std::vector<std::string> metrics_;
    Chip chip_;
    Image configuration_;
    CUpti_RangeProfiler_Object* profiler_ = nullptr;
    Image image_;
};

}  // namespace roof::cupti
