// What the machine's reports about itself show: capabilities, with a reason for each and a remedy if there is one; contradictions
// between reports, and reports known to be unreliable. Functions of the reports, so that tests can cover any machine.
#pragma once

#include "cpu/system.hpp"
#include "ert/method/bench/machine.hpp"

#include <string>
#include <vector>

namespace roof::cpu {

/// `machine` needs isa, features and huge_pages.
std::vector<Capability> capabilities_of(const Machine& machine);

/// The capability after an attempt to open a counter. `error` is its errno, or 0 on success.
Capability hardware_counters(int error, bool virtual_machine);

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
