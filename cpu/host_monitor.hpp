// Watches the machine beside the launches of a training step, by counts of the kernel (/proc) and readings of the core (noise_monitor.hpp).
#pragma once

#include "ert/method/bench/clock.hpp"
#include "ert/method/bench/host_use.hpp"

#include <filesystem>
#include <map>
#include <memory>

namespace roof::cpu {

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
