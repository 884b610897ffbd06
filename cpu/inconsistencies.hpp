// Contradictions between the machine's reports about itself, and reports known to be unreliable. Pure functions of the
// reports, so that tests can cover any machine.
#pragma once

#include "cpu/cpuid_caches.hpp"
#include "ert/method/bench/machine.hpp"

#include <string>
#include <vector>

namespace roof::cpu {

struct Reports {
    std::string hypervisor;           ///< empty on bare metal
    std::vector<MemoryLevel> caches;  ///< from the operating system
    std::vector<CpuidCache> cpuid;
    int machine_threads = 1;  ///< hardware threads of the machine
    int allowed_threads = 1;  ///< hardware threads in the affinity mask
    double quota = 0;         ///< in processors; 0 if unlimited
};

/// One sentence per inconsistency, with the numbers that disagree.
std::vector<std::string> find_inconsistencies(const Reports& reports);

}  // namespace roof::cpu
