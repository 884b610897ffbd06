// What CUPTI tells of the program's calls as they are made, on the thread that makes them: which ranges it opens and closes, under
// which label it makes the nodes of CUDA graphs, and, if someone wants to know, every launch before it happens.
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

/// A call that is about to be made. What is launched while a graph is captured does not run, and is not told.
struct UpcomingCall {
    enum class Kind { kernel, graph, begin_of_capture, end_of_context };

    Kind kind = Kind::kernel;
    CUcontext context = nullptr;
    LaunchSeen launch{};  ///< of a kernel
};

class Watcher {
  public:
    using OnCall = std::function<void(const UpcomingCall&)>;

    /// There is one in a process: CUPTI takes no second subscriber. `labels` must outlive it.
    Watcher(std::shared_ptr<const Cupti> cupti, Labels& labels);
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    /// Why nothing can be seen; empty if it can.
    const std::string& failure() const { return failure_; }

    /// Until leave(), what this thread asks for carries the label. Labels do not nest.
    static void enter(std::uint64_t label);
    static void leave();

    /// From now on, calls without a label get theirs from the program's NVTX ranges.
    void follow_ranges();
    const OpenRanges& ranges() const { return ranges_; }

    /// From now on, `on_call` is told of each call, one at a time, whatever threads they come from; null: no longer. What it asks
    /// of CUDA itself is not told.
    void tell(OnCall on_call);

    /// For CUPTI's callbacks alone.
    void see(CUpti_CallbackDomain domain, CUpti_CallbackId event, const void* data);

  private:
    void enable(bool wanted, CUpti_CallbackDomain domain, CUpti_CallbackId event);
    Label label_now() const;
    void see_graph(CUpti_CallbackId event, const CUpti_GraphData& data);
    void see_call(CUpti_CallbackId event, const CUpti_CallbackData& call);
    void see_range(CUpti_CallbackId event, const CUpti_NvtxData& data);
    void see_begin_of_capture(bool enters, const CUpti_CallbackData& call);
    void hand_on(const UpcomingCall& call);

    std::shared_ptr<const Cupti> cupti_;
    Labels& labels_;
    OpenRanges ranges_;
    CUpti_SubscriberHandle subscriber_ = nullptr;
    std::string failure_;
    std::atomic<int> captures_ = 0;  ///< of graphs, under way
    std::mutex mutex_;               ///< of the listener
    OnCall on_call_;
};

}  // namespace roof::cupti
