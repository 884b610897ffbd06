// Subscribes to CUPTI's callbacks, on the thread that makes the call: the ranges that the program opens and closes,
// the nodes of CUDA graphs with the label under which they are made, and, if wanted, every launch before it happens.
#pragma once

#include "ert/cupti/labels.hpp"
#include "ert/cupti/library.hpp"

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace roof::cupti {

// The ranges that each thread has open now. They label work that cannot be labelled later: the nodes of CUDA graphs,
// which run long after the ranges around their capture, and counted kernels, of which nothing else is recorded.

/// May be used from several threads.
class OpenRanges {
  public:
    /// Ranges of one NVTX domain nest; those of different domains need not. Null: the default domain.
    void push(std::uint32_t thread, const void* domain, std::string name);
    /// Closes the innermost range of the domain. No effect if it has none: it was opened before the recording.
    void pop(std::uint32_t thread, const void* domain);

    /// The effect of such a call, from CUPTI's data on it; none for other calls. Wide characters and registered names
    /// are empty names.
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

struct LaunchSeen {
    std::string kernel;  ///< demangled
    Label label;
};

/// A call that is about to be made. Launches during the capture of a graph do not run and are left out.
struct UpcomingCall {
    enum class Kind { kernel, graph, begin_of_capture, end_of_context };

    Kind kind = Kind::kernel;
    CUcontext context = nullptr;
    LaunchSeen launch{};  ///< if it is a kernel
};

class Subscriber {
  public:
    using OnCall = std::function<void(const UpcomingCall&)>;

    /// One per process: CUPTI allows no second subscriber. `labels` must outlive it.
    Subscriber(std::shared_ptr<const Cupti> cupti, Labels& labels);
    ~Subscriber();
    Subscriber(const Subscriber&) = delete;
    Subscriber& operator=(const Subscriber&) = delete;

    /// Why there are no callbacks; empty if there are.
    const std::string& failure() const { return failure_; }

    /// From now on calls of this thread carry the label; 0: none. Labels do not nest.
    static void label_calls(std::uint64_t label);

    /// From now on calls without a label get it from the program's NVTX ranges.
    void follow_ranges();
    const OpenRanges& ranges() const { return ranges_; }

    /// Calls `on_call` for each call of the program but its own, one at a time for all threads; null: no longer.
    void set_listener(OnCall on_call);

    /// Only for CUPTI's callbacks.
    void on_callback(CUpti_CallbackDomain domain, CUpti_CallbackId event, const void* data);

  private:
    void enable(bool wanted, CUpti_CallbackDomain domain, CUpti_CallbackId event);
    Label label_now() const;
    void on_graph(CUpti_CallbackId event, const CUpti_GraphData& data);
    void on_driver_call(CUpti_CallbackId event, const CUpti_CallbackData& call);
    void on_begin_of_capture(bool enters, const CUpti_CallbackData& call);
    void forward(const UpcomingCall& call);

    std::shared_ptr<const Cupti> cupti_;
    Labels& labels_;
    OpenRanges ranges_;
    CUpti_SubscriberHandle handle_ = nullptr;
    std::string failure_;
    std::atomic<int> captures_ = 0;  ///< captures of graphs in progress
    std::mutex mutex_;               ///< guards on_call_
    OnCall on_call_;
};

}  // namespace roof::cupti
