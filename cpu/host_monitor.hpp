// Watches the machine beside the launches of a training step, by counts of the kernel (/proc) and readings of the core
// (noise_monitor.hpp).
#pragma once

#include "ert/method/bench/clock.hpp"
#include "ert/method/bench/trace.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

namespace roof::cpu {

// Processor time that this process did not get, counted by the kernel: steal time (used by the host of a virtual
// machine) and throttling (by control groups).

struct StealFiles {
    std::filesystem::path processors = "/proc/stat";
    /// cpu.stat of this process's group and its parents, for both versions of control groups.
    std::vector<std::filesystem::path> groups;
};

StealFiles steal_files();

/// The counts so far. Unreadable files count as zero.
struct StealTime {
    long long stolen = 0;     ///< clock ticks, usually 10 ms each, of the requested processors
    long long throttled = 0;  ///< throttled periods, over all groups
};

/// `processors`: the kernel's numbers.
StealTime steal_so_far(const StealFiles& files, const std::vector<int>& processors);

/// The disturbance between two counts, for Sample::disturbance; empty if there was none.
std::string_view disturbance_between(const StealTime& before, const StealTime& after);

/// Reads the counts around launches. Steal time is read only if the machine has counted some since it started;
/// otherwise the host takes none or does not report it.
class StealMonitor {
  public:
    explicit StealMonitor(std::vector<int> processors, StealFiles files = steal_files());

    void begin() { before_ = steal_so_far(files_, processors_); }
    std::string_view end() const { return disturbance_between(before_, steal_so_far(files_, processors_)); }

  private:
    std::vector<int> processors_;
    StealFiles files_;
    StealTime before_;
};

class CoreHistory;

/// The kernel's files; none of them has to be there.
struct HostFiles {
    std::filesystem::path processors = "/proc/stat";
    std::filesystem::path threads = "/proc/self/task";  ///< `schedstat` of each thread
};

/// The kernel's counts so far, in seconds. Empty: not known.
struct HostCounts {
    std::optional<double> busy{};     ///< of all processors, this process included
    std::optional<double> stolen{};   ///< of all processors
    double own = 0;                   ///< processor time of this process
    std::map<long, double> waited{};  ///< of each thread, ready to run but without a processor
};
HostCounts host_counts(const HostFiles& files, double own_seconds);

/// Between two counts that lie `elapsed` seconds apart. A thread that has ended or begun between them is left out.
HostUse use_between(const HostCounts& before, const HostCounts& after, double elapsed);

/// `history`: what the cores do alone. Reads the core of the calling thread for about a millisecond.
std::unique_ptr<HostMonitor> host_monitor(std::shared_ptr<CoreHistory> history);

}  // namespace roof::cpu
