// The ranges that each thread of the program has open now. They label work that cannot be labelled later: the nodes of
// CUDA graphs, which run long after the ranges around their capture, and counted kernels, of which nothing else is
// recorded.
#pragma once

#include "ert/cupti/labels.hpp"

#include <cupti.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace roof::cupti {

/// May be used from several threads.
class OpenRanges {
  public:
    /// Ranges of one NVTX domain nest; those of different domains need not. Null: the default domain.
    void push(std::uint32_t thread, const void* domain, std::string name);
    /// Closes the innermost range of the domain. No effect if it has none: it was opened before the recording.
    void pop(std::uint32_t thread, const void* domain);

    /// CUPTI's numbers of the calls of NVTX that push and pop ranges.
    static std::span<const CUpti_CallbackId> calls();
    /// The effect of such a call, from CUPTI's data on it; none for other calls. Wide characters and registered names are empty names.
    void on_call(std::uint32_t thread, CUpti_CallbackId call, const CUpti_NvtxData& data);

    /// The label of calls that the thread makes now, by the rules of label_in(). Without a phase of its own, the thread
    /// has the phase that was opened last on any thread.
    Label label(std::uint32_t thread) const;
    /// Whether any thread is in a range of that name; "step*" matches a beginning.
    bool is_within(const std::string& wanted) const;

  private:
    struct Open {
        const void* domain = nullptr;
        std::string name;
        std::uint64_t order = 0;  ///< over all threads
    };

    std::string phase_opened_last() const;

    mutable std::mutex mutex_;
    std::map<std::uint32_t, std::vector<Open>> threads_;
    std::uint64_t opened_ = 0;
};

}  // namespace roof::cupti
