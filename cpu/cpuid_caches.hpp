// Cache sizes from CPUID, for comparison with the operating system's. The two may differ in a virtual machine.
#pragma once

#include "ert/base/units.hpp"

#include <string>
#include <vector>

namespace roof::cpu {

struct CpuidCache {
    std::string leaf;  ///< the source of the size, such as "0x8000001d"
    int level = 0;     ///< 1, 2, 3
    Bytes capacity;    ///< of the data or unified cache
};

/// Every leaf that this processor supports. Some leaves report the same level twice.
std::vector<CpuidCache> cpuid_caches();

/// The hypervisor's own name, such as "KVM" or "Hyper-V"; empty on bare metal.
std::string hypervisor_name();

}  // namespace roof::cpu
