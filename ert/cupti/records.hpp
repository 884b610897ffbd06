// From what CUPTI said to the recording's rows: a pure function, so that it is tested with records made by hand. Every row learns
// its layer and phase here: from the node of the graph it ran in, from the label that was pushed when it was asked for, or from the
// program's own ranges around that call.
#pragma once

#include "ert/cupti/activity_log.hpp"
#include "ert/cupti/labels.hpp"
#include "ert/cupti/range_index.hpp"

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

namespace roof::cupti {

/// Of a function of the runtime or the driver, by CUPTI's number.
using ApiName = std::function<std::string(ApiDomain domain, std::uint32_t function)>;

/// Demangled; as it is where it is no mangled name.
std::string plain_kernel_name(const std::string& name);

struct RecordOptions {
    Nanoseconds zero = 0;  ///< of CUPTI's clock: where the recording's own begins; what began before is left out
    /// A range's name; what was not asked for within one is left out. "step*" is a beginning. Empty: everything is kept.
    std::string only_within{};
};

class Records {
  public:
    /// All must outlive it; nothing may be added to the log meanwhile.
    Records(const ActivityLog& log, const Labels& labels, ApiName api_name, RecordOptions options);

    /// Nothing where the activity lies outside of what is kept.
    std::optional<KernelRecord> record(const KernelActivity& kernel) const;
    std::optional<CopyRecord> record(const CopyActivity& copy) const;
    std::optional<ApiRecord> record(const CallActivity& call) const;
    std::optional<MemoryRecord> record(const MemoryActivity& memory) const;
    std::optional<SynchronisationRecord> record(const WaitActivity& wait) const;
    std::optional<RangeRecord> record(const RangeActivity& range) const;

  private:
    Label label_of(std::uint32_t correlation, std::uint64_t graph_node) const;
    Label label_in_ranges(std::uint32_t thread, Nanoseconds moment) const;
    bool is_kept(Nanoseconds begin, Nanoseconds asked) const;
    Nanoseconds asked_at(std::uint32_t correlation, Nanoseconds otherwise) const;
    Cause cause_of(const DeviceActivity& activity) const;
    std::optional<Seconds> since_zero(Nanoseconds moment) const;
    const std::string& name_of(const CallActivity& call) const;
    const std::string& plain(const std::string& mangled) const;

    const ActivityLog& log_;
    const Labels& labels_;
    ApiName api_name_;
    RecordOptions options_;
    RangeIndex ranges_;
    std::deque<RangeActivity> kept_ranges_;
    RangeIndex kept_;
    std::unordered_map<std::uint32_t, const CallActivity*> calls_;  ///< by correlation
    mutable std::unordered_map<std::string, std::string> demangled_;
    mutable std::unordered_map<std::uint64_t, std::string> api_names_;
};

}  // namespace roof::cupti
