// Processor time that this process did not get, counted by the kernel: steal time (used by the host of a virtual
// machine) and throttling (by control groups).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace roof::cpu {

/// The kernel files that hold the counts.
struct StealFiles {
    std::filesystem::path processors = "/proc/stat";
    /// cpu.stat of this process's group and its parents, for both versions of control groups.
    std::vector<std::filesystem::path> groups;
};

/// The files of this process.
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
    /// The disturbance since begin().
    std::string_view end() const { return disturbance_between(before_, steal_so_far(files_, processors_)); }

  private:
    std::vector<int> processors_;
    StealFiles files_;
    StealTime before_;
};

}  // namespace roof::cpu
