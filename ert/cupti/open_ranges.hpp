// The ranges that each thread of the program has open at this moment. For what is to be labelled as it happens: the nodes of a CUDA
// graph, which run long after the ranges around their making are over, and kernels that are counted, of which nothing else is
// recorded.
#pragma once

#include "ert/cupti/labels.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace roof::cupti {

/// May be used from several threads.
class OpenRanges {
  public:
    /// Ranges of one domain of NVTX nest; those of different domains need not. Null: the domain of those who name none.
    void push(std::uint32_t thread, const void* domain, std::string name);
    /// The innermost of the domain; nothing where it has none: it was opened before anyone listened.
    void pop(std::uint32_t thread, const void* domain);

    /// Of what the thread asks for now, by the rules of label_in(); a thread without a phase has that of the phase which was
    /// opened last on any thread.
    Label label(std::uint32_t thread) const;
    /// Whether any thread is in a range of that name; "step*" is a beginning.
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
