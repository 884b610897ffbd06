// Hardware counters, by CUPTI's Range Profiler: over each kernel, which CUPTI then runs again and again by itself, one at a time,
// or over stretches of work, which the caller repeats. Counting slows and changes the times: those come from tracing. Not yet run on
// hardware.
#pragma once

#include "ert/cupti/counting.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace roof::cupti {

/// The driver's name of the chip of that CUDA device: "GH100". Throws Error.
std::string chip_of(const Cupti& cupti, std::size_t device);

/// The context that is current on the calling thread. Throws Unsupported where there is none.
CUcontext current_context();

class RangeProfiler {
  public:
    /// `context` is one of the CUDA device of that number. Throws Unsupported where nothing may be counted here, with what would help.
    RangeProfiler(std::shared_ptr<const Cupti> cupti, std::size_t device, CUcontext context = current_context());

    const std::string& chip() const { return chip_; }

    /// Over every kernel that `work` launches, up to `most` of them. Work is done once; each kernel is repeated by CUPTI, which
    /// saves and restores what it writes. Throws Unsupported or Error.
    std::vector<CountedRange> count_kernels(const std::function<void()>& work, const std::vector<std::string>& metrics,
                                            std::size_t most = 4096) const;

    /// The same for kernels that others launch: each one from now until stop(), up to `most`.
    std::unique_ptr<Counting> begin_kernels(const std::vector<std::string>& metrics, std::size_t most) const;

    /// Over all of `work` at once, which is done as often as it takes, and must do the same each time.
    CountedRange count_whole(const std::function<void()>& work, const std::string& name,
                             const std::vector<std::string>& metrics) const;

    /// Over each stretch of `work` that it pushes and pops, up to `most`; no two may have the same name, nor lie in one another. The
    /// work is done as often as it takes, and must push and pop the same each time. Empty where it pushed none.
    std::vector<CountedRange> count_stretches(const std::function<void(Counting&)>& work,
                                              const std::vector<std::string>& metrics, std::size_t most = 256) const;

  private:
    std::shared_ptr<const Cupti> cupti_;
    std::string chip_;
    CUcontext context_;
    Image availability_;
};

}  // namespace roof::cupti
