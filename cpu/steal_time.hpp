// Processor time that was kept from this process, as the kernel counts it: by the host that a virtual machine runs on (steal time), and
// by the control groups' limit (throttling).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace roof::cpu {

/// Where the kernel counts.
struct StealFiles {
    std::filesystem::path processors = "/proc/stat";
    std::vector<std::filesystem::path>
        groups;  ///< cpu.stat of this process's group and of its parents, in either version
};

/// Those of this process.
StealFiles steal_files();

/// Counts so far; a file that cannot be read counts nothing.
struct StealTime {
    long long stolen = 0;     ///< clock ticks, mostly of 10 ms, of the processors asked for
    long long throttled = 0;  ///< periods in which a group was held, over all groups
};

/// `processors` by the kernel's numbers.
StealTime steal_so_far(const StealFiles& files, const std::vector<int>& processors);

/// What was taken between two counts, in a word or two for a sample's disturbance; empty if nothing was.
std::string_view word_for(const StealTime& before, const StealTime& after);

/// Reads the counts beside launches. Steal time is looked at only where any was counted since the machine started: elsewhere the host
/// takes none, or does not tell.
class StealMonitor {
  public:
    explicit StealMonitor(std::vector<int> processors, StealFiles files = steal_files());

    void begin() { before_ = now(); }
    /// Since begin().
    std::string_view end() const { return word_for(before_, now()); }

  private:
    StealTime now() const;

    std::vector<int> processors_;
    StealFiles files_;
    StealTime before_;
};

}  // namespace roof::cpu
