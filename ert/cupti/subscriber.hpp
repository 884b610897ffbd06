// Subscribes to CUPTI's callbacks, which come on the thread that makes the call: the ranges that the program opens and
// closes, the nodes of CUDA graphs with the label under which they are made, and, if wanted, every launch before it
// happens.
#pragma once

#include "ert/cupti/labels.hpp"
#include "ert/cupti/library.hpp"
#include "ert/cupti/open_ranges.hpp"

#include <cupti.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace roof::cupti {

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

    /// Until leave(), calls of this thread carry the label. Labels do not nest.
    static void enter(std::uint64_t label);
    static void leave();

    /// From now on calls without a label get it from the program's NVTX ranges.
    void follow_ranges();
    const OpenRanges& ranges() const { return ranges_; }

    /// From now on `on_call` is called for each call of the program, one at a time for all threads; null: no longer.
    /// Its own calls of CUDA are left out.
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
