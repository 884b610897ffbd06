// Processor time that this process did not get, as the kernel counts it: steal time (taken by the host of a virtual machine) and
// throttling (by the control groups' limit).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace roof::cpu {

/// The kernel's files with the counts.
struct StealFiles {
    std::filesystem::path processors = "/proc/stat";
    /// cpu.stat of this process's group and of its parents, in either version.
    std::vector<std::filesystem::path> groups;
};

/// The files of this process.
StealFiles steal_files();

/// Counts so far; a file that cannot be read counts nothing.
struct StealTime {
    long long stolen = 0;     ///< clock ticks, mostly of 10 ms, of the processors asked for
    long long throttled = 0;  ///< periods in which a group was held, over all groups
};

/// `processors` by the kernel's numbers.
StealTime steal_so_far(const StealFiles& files, const std::vector<int>& processors);

/// The disturbance between two counts, for Sample::disturbance; empty if there was none.
std::string_view disturbance_between(const StealTime& before, const StealTime& after);

/// Reads the counts beside launches. Steal time is read only where some was counted since the machine started: elsewhere the host takes
/// none or does not report it.
class StealMonitor {
  public:
    explicit StealMonitor(std::vector<int> processors, StealFiles files = steal_files());

    void begin() { before_ = now(); }
    /// Since begin().
    std::string_view end() const { return disturbance_between(before_, now()); }

  private:
    StealTime now() const;

    std::vector<int> processors_;
    StealFiles files_;
    StealTime before_;
};

}  // namespace roof::cpu
