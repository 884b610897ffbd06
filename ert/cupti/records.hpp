// Turns CUPTI's records into the rows of a recording. Layer and phase of a row come from the node of the graph it ran
// in, from the label that was pushed around its call, or from the program's own ranges around that call.
#pragma once

#include "ert/cupti/activity_log.hpp"
#include "ert/cupti/labels.hpp"
#include "ert/cupti/library.hpp"
#include "ert/cupti/range_index.hpp"

#include <functional>
#include <string>
#include <unordered_map>

namespace roof::cupti {

/// Returns the name of a function of the runtime or the driver, by CUPTI's number.
using ApiName = std::function<std::string(ApiDomain domain, std::uint32_t function)>;

/// Demangles; other names stay as they are.
std::string plain_kernel_name(const std::string& name);

/// "cudaLaunchKernel", as plain_api_name() has it; "function 1234" for a number unknown to CUPTI.
std::string api_name(const Cupti& cupti, ApiDomain domain, std::uint32_t function);

struct RecordOptions {
    Nanoseconds zero = 0;  ///< start of the recording, on CUPTI's clock; earlier records are left out
    /// Only records whose call lies within a range of this name ("step*": a beginning) are kept. Empty: all.
    std::string only_within{};
};

class Records {
  public:
    /// The arguments must outlive it, and the log must not change.
    Records(const ActivityLog& log, const Labels& labels, ApiName api_name, RecordOptions options);

    /// Nothing if the activity is left out.
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
    Nanoseconds call_begin_of(std::uint32_t correlation, Nanoseconds otherwise) const;
    Cause cause_of(std::string device, Number stream, std::uint32_t correlation, std::uint64_t graph_node = 0) const;
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
