// Hardware counters by CUPTI's Range Profiler: of each kernel, which CUPTI repeats by itself, one at a time, or of
// stretches of work, which the caller repeats. Counting changes the times, so times come from tracing.
#pragma once

#include "ert/cupti/counting.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace roof::cupti {

/// The driver's name of the chip of a CUDA device: "GH100". Throws Error.
std::string chip_of(const Cupti& cupti, std::size_t device);

/// The context that is current on the calling thread. Throws Unsupported where there is none.
CUcontext current_context();

class RangeProfiler {
  public:
    /// `context` belongs to the CUDA device of that number. Throws Unsupported, with a remedy, where nothing may be
    /// counted.
    RangeProfiler(std::shared_ptr<const Cupti> cupti, std::size_t device, CUcontext context = current_context());

    const std::string& chip() const { return chip_; }

    /// Counts every kernel that `work` launches, up to `max_kernels`. The work is done once; CUPTI repeats each kernel,
    /// and saves and restores what it writes. Throws Unsupported or Error.
    std::vector<CountedRange> count_kernels(const std::function<void()>& work, const std::vector<std::string>& metrics,
                                            std::size_t max_kernels = 4096) const;

    /// The same for kernels launched by other code: each one from now until stop(), up to `max_kernels`.
    std::unique_ptr<Counting> begin_kernels(const std::vector<std::string>& metrics, std::size_t max_kernels) const;

    /// Counts all of `work` at once. The work is repeated as often as needed, and must be the same each time.
    CountedRange count_whole(const std::function<void()>& work, const std::string& name,
                             const std::vector<std::string>& metrics) const;

    /// Counts each stretch of `work` between push and pop, up to `max_stretches`. Names must differ, and stretches must
    /// not nest. The work is repeated as often as needed, and must push and pop the same each time. Empty if it pushed
    /// none.
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
