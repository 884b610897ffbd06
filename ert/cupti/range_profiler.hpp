// Hardware counters by CUPTI's Range Profiler: of each kernel, which CUPTI repeats by itself, one at a time, or of
// stretches of work, which the caller repeats. Counting changes the times, so times come from tracing.
#pragma once

#include "ert/cupti/chips.hpp"
#include "ert/cupti/library.hpp"

#include <cuda.h>
#include <cupti_range_profiler.h>

#include <functional>
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
enum class CountingMode {
    kernels,   ///< each kernel is a range: CUPTI repeats it, and saves and restores what it writes
    stretches  ///< a range is the work between push and pop, which the caller repeats until stop() returns true
};

/// The Range Profiler on one context, from enabling to disabling. The order of calls is start, (push, pop)…, stop,
/// counted; start to stop is repeated until all passes are done.
class Counting {
  public:
    /// `availability`: of the context. Throws Unsupported without rights, Error if the chip cannot count the metrics.
    Counting(std::shared_ptr<const Cupti> cupti, const std::string& chip, const Image& availability, CUcontext context,
             std::vector<std::string> metrics, CountingMode mode, std::size_t max_ranges);
    ~Counting() { disable(); }
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
    void configure(CountingMode mode, std::size_t max);
    std::size_t ranges() const;
    void disable() noexcept;

    std::shared_ptr<const Cupti> cupti_;
    std::vector<std::string> metrics_;
    Chip chip_;
    Image configuration_;
    CUpti_RangeProfiler_Object* profiler_ = nullptr;
    Image image_;
};

/// The context that is current on the calling thread. Throws Unsupported where there is none.
CUcontext current_context();

class RangeProfiler {
  public:
    /// `context`: of the CUDA device of that number. Throws Unsupported, with a remedy, where nothing may be counted.
    RangeProfiler(std::shared_ptr<const Cupti> cupti, std::size_t device, CUcontext context = current_context());

    const std::string& chip() const { return chip_; }

    /// Counts every kernel that `work` launches, up to 4096. The work is done once; CUPTI repeats each kernel, and
    /// saves and restores what it writes. Throws Unsupported or Error.
    std::vector<CountedRange> count_kernels(const std::function<void()>& work,
                                            const std::vector<std::string>& metrics) const;

    /// The same for kernels launched by other code: each one from now until stop(), up to `max_kernels`.
    std::unique_ptr<Counting> begin_kernels(const std::vector<std::string>& metrics, std::size_t max_kernels) const;

    /// Counts all of `work` at once. The work is repeated as often as needed, and must be the same each time.
    CountedRange count_whole(const std::function<void()>& work, const std::string& name,
                             const std::vector<std::string>& metrics) const;

    /// Counts each stretch of `work` between push and pop, up to `max_stretches`, with names that differ and without
    /// nesting. The work is repeated as often as needed, with the same stretches each time. Empty if it pushed none.
    std::vector<CountedRange> count_stretches(const std::function<void(Counting&)>& work,
                                              const std::vector<std::string>& metrics,
                                              std::size_t max_stretches = 256) const;

  private:
    std::shared_ptr<const Cupti> cupti_;
    std::string chip_;
    CUcontext context_;
    Image availability_;
};

}  // namespace roof::cupti
