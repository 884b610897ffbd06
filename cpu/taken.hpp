// Processor time that was kept from this process, as the kernel counts it: by the host that a virtual machine runs on (steal time), and
// by the control groups' limit (throttling).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace roof::cpu {

/// Where the kernel counts.
struct TakenFiles {
    std::filesystem::path processors = "/proc/stat";
    std::vector<std::filesystem::path>
        groups;  ///< cpu.stat of this process's group and of its parents, in either version
};

/// Those of this process.
TakenFiles taken_files();

/// Counts so far; a file that cannot be read counts nothing.
struct Taken {
    long long stolen = 0;     ///< clock ticks, mostly of 10 ms, of the processors asked for
    long long throttled = 0;  ///< periods in which a group was held, over all groups
};

/// `processors` by the kernel's numbers.
Taken taken_so_far(const TakenFiles& files, const std::vector<int>& processors);

/// What was taken between two counts, in a word or two for a sample's disturbance; empty if nothing was.
std::string_view word_for(const Taken& before, const Taken& after);

/// Reads the counts beside launches. Steal time is looked at only where any was counted since the machine started: elsewhere the host
/// takes none, or does not tell.
class TakenWatch {
  public:
    explicit TakenWatch(std::vector<int> processors, TakenFiles files = taken_files());

    void begin() { before_ = now(); }
    /// Since begin().
    std::string_view end() const { return word_for(before_, now()); }

  private:
    Taken now() const;

    std::vector<int> processors_;
    TakenFiles files_;
    Taken before_;
};

}  // namespace roof::cpu
