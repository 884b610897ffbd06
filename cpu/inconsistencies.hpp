// Contradictions between the machine's reports about itself, and reports that are known to be unreliable. Pure functions of the reports,
// so that any machine can be tested.
#pragma once

#include "cpu/cpuid_caches.hpp"
#include "ert/method/bench/machine.hpp"

#include <string>
#include <vector>

namespace roof::cpu {

struct Reports {
    std::string hypervisor;           ///< empty on bare metal
    std::vector<MemoryLevel> caches;  ///< as the operating system says
    std::vector<CpuidCache> cpuid;
    int machine_threads = 1;  ///< hardware threads there are
    int allowed_threads = 1;  ///< of those, in the affinity mask
    double quota = 0;         ///< processors' worth of time; 0 if unlimited
};

/// One sentence each, with the numbers that disagree.
std::vector<std::string> find_inconsistencies(const Reports& reports);

}  // namespace roof::cpu
