// Cache sizes from CPUID, for comparison with the operating system's. In a virtual machine the two may differ.
#pragma once

#include "ert/base/units.hpp"

#include <string>
#include <vector>

namespace roof::cpu {

struct CpuidCache {
    std::string leaf;  ///< "0x8000001d", where the number was read
    int level = 0;     ///< 1, 2, 3
    Bytes capacity;    ///< of data or unified cache
};

/// Every leaf that this processor fills in; some report the same level twice.
std::vector<CpuidCache> cpuid_caches();

/// "KVM", "Hyper-V", … as the hypervisor calls itself; empty on bare metal.
std::string hypervisor_name();

}  // namespace roof::cpu
