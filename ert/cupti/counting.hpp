// CUPTI's Range Profiler at work on one context, from enabling to disabling: what it counts, over which ranges, and how these are
// repeated. Calls come in the order start, (push, pop)…, stop, counted; start and stop may come again until all passes are done.
#pragma once

#include "ert/cupti/chips.hpp"
#include "ert/cupti/library.hpp"

#include <cuda.h>
#include <cupti_range_profiler.h>

#include <memory>
#include <string>
#include <vector>

namespace roof::cupti {

/// What was counted over one kernel, over a stretch, or over the whole.
struct CountedRange {
    std::string name;            ///< the kernel's number in the order of launching, from 0; the name that was pushed
    std::vector<double> values;  ///< of the metrics asked for, in SI units without prefix
};

/// How ranges are made and repeated.
struct CountingMode {
    CUpti_ProfilerRange range;
    CUpti_ProfilerReplayMode replay;
    std::size_t most_ranges;
};

/// Each kernel a range of its own, which CUPTI repeats by itself: it saves and restores what the kernel writes.
constexpr CountingMode kernels_alone(std::size_t most)
{
    return {CUPTI_AutoRange, CUPTI_KernelReplay, most};
}

/// Ranges are what lies between push and pop; whoever pushes repeats the work, until stop() says that it was enough.
constexpr CountingMode stretches(std::size_t most)
{
    return {CUPTI_UserRange, CUPTI_UserReplay, most};
}

class Counting {
  public:
    /// `availability`: what may be counted on the context. Throws Unsupported where the user has no rights, Error where the chip
    /// cannot count the metrics.
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

    /// Once, after the last stop(), in the order in which the ranges came. Throws Error if there were more than there was room for.
    std::vector<CountedRange> counted();

  private:
    template <class Function, class Parameters>
    void call(const char* name, Parameters& given) const;
    template <class Parameters, class Function>
    Parameters act(const char* name, std::size_t size) const;
    void make_room(std::size_t most);
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
