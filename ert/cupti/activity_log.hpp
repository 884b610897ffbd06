// A compact copy of CUPTI's records, until they are written to files. CUPTI's own records live only as long as their
// buffer, and a training step makes thousands. Times are nanoseconds of CUPTI's clock.
#pragma once

#include "ert/recording/records.hpp"

#include <cupti.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace roof::cupti {

using Nanoseconds = std::uint64_t;

// The layouts of CUPTI's records. CUPTI only adds to the end of a record, so each is read with the oldest layout that
// has the members needed; one build reads every CUPTI since CUDA 12.0. tests/cupti/newest_layouts.cpp compares them
// with the newest known.
using KernelLayout = CUpti_ActivityKernel9;
using CopyLayout = CUpti_ActivityMemcpy5;
using PeerCopyLayout = CUpti_ActivityMemcpyPtoP4;
using FillLayout = CUpti_ActivityMemset4;
using MemoryLayout = CUpti_ActivityMemory3;
using WaitLayout = CUpti_ActivitySynchronization;
using OverheadLayout = CUpti_ActivityOverhead2;
using CallLayout = CUpti_ActivityAPI;
using MarkerLayout = CUpti_ActivityMarker2;
using ExternalLayout = CUpti_ActivityExternalCorrelation;

/// What all work on a device has. Names point into the log's own strings.
struct DeviceActivity {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    std::uint32_t device = 0;
    std::uint32_t stream = 0;
    std::uint32_t correlation = 0;
    std::uint64_t graph_node = 0;  ///< 0: in no graph
};

struct KernelActivity {
    DeviceActivity at;
    const std::string* name = nullptr;  ///< mangled
    std::array<std::int32_t, 3> grid{};
    std::array<std::int32_t, 3> block{};
    std::uint16_t registers = 0;
    std::uint32_t shared = 0;  ///< bytes, static and dynamic
};

struct CopyActivity {
    DeviceActivity at;
    CopyKind kind = CopyKind::device_to_device;
    std::uint8_t source = 0;       ///< a CUpti_ActivityMemoryKind
    std::uint8_t destination = 0;  ///< a CUpti_ActivityMemoryKind
    std::uint64_t bytes = 0;
};

struct CallActivity {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    std::uint32_t thread = 0;
    std::uint32_t correlation = 0;
    std::uint32_t function = 0;  ///< CUPTI's number
    ApiDomain domain = ApiDomain::runtime;
};

struct MemoryActivity {
    Nanoseconds time = 0;
    std::uint32_t device = 0;
    std::uint32_t correlation = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    MemoryAction action = MemoryAction::allocate;
    std::uint8_t memory = 0;  ///< a CUpti_ActivityMemoryKind
    bool is_pooled = false;
};

struct WaitActivity {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t correlation = 0;
    CUpti_ActivitySynchronizationType type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN;
};

/// A range named by the program, with NVTX, or by the engine.
struct RangeActivity {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    std::uint32_t thread = 0;
    RangeKind kind = RangeKind::nvtx;
    const std::string* name = nullptr;
};

class ActivityLog {
  public:
    /// Records beyond `most` in all are counted as dropped.
    explicit ActivityLog(std::size_t most = 20'000'000) : most_(most) {}

    /// Copies the record, if it is of a known kind.
    void add(const CUpti_Activity& record);
    void add(const RangeActivity& range, const std::string& name);
    /// Adds to the number of records for which CUPTI had no buffer.
    void dropped(std::size_t records) { dropped_ += records; }
    /// Removes all records; the strings stay, because others may point to them.
    void clear();

    const std::deque<KernelActivity>& kernels() const { return kernels_; }
    const std::deque<CopyActivity>& copies() const { return copies_; }
    const std::deque<CallActivity>& calls() const { return calls_; }
    const std::deque<MemoryActivity>& allocations() const { return allocations_; }
    const std::deque<WaitActivity>& waits() const { return waits_; }
    const std::deque<RangeActivity>& ranges() const { return ranges_; }

    /// The number of the label under which the call with that correlation was made; 0 if none.
    std::uint64_t label_of(std::uint32_t correlation) const;
    /// The device of a context, as known from its kernels and copies; nothing if it had none.
    std::optional<std::uint32_t> device_of(std::uint32_t context) const;

    std::size_t size() const;
    std::size_t dropped() const { return dropped_; }
    /// Time spent in CUPTI itself, on any thread.
    Nanoseconds overhead() const { return overhead_; }

  private:
    template <class Layout>
    void add_device_activity(DeviceActivity& at, const Layout& record);
    void add_kernel(const CUpti_Activity& record);
    template <class Layout>
    void add_copy(const Layout& record, CopyKind kind, std::uint32_t source, std::uint32_t destination);
    void add_call(const CUpti_Activity& record, ApiDomain domain);
    void add_memory(const CUpti_Activity& record);
    void add_wait(const CUpti_Activity& record);
    void add_marker(const CUpti_Activity& record);
    void add_external(const CUpti_Activity& record);
    const std::string* intern(const char* text) { return &*strings_.emplace(text == nullptr ? "" : text).first; }

    std::size_t most_;
    std::size_t dropped_ = 0;
    Nanoseconds overhead_ = 0;
    std::unordered_set<std::string> strings_;
    std::deque<KernelActivity> kernels_;
    std::deque<CopyActivity> copies_;
    std::deque<CallActivity> calls_;
    std::deque<MemoryActivity> allocations_;
    std::deque<WaitActivity> waits_;
    std::deque<RangeActivity> ranges_;
    std::unordered_map<std::uint32_t, RangeActivity> open_markers_;  ///< by their number
    std::unordered_map<std::uint32_t, std::uint64_t> labels_;        ///< by correlation
    std::map<std::uint32_t, std::uint32_t> devices_;                 ///< by context
};

}  // namespace roof::cupti
