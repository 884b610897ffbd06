// A machine as a document: what it reports of itself, with the inconsistencies about those reports. Theoretical figures live here,
// apart from the measured ceilings, which are rows of results.
#pragma once

#include "ert/base/units.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace YAML {
class Node;
}

namespace roof {

/// A cache or memory as the system reports it. Capacity 0 means: not reported.
struct MemoryLevel {
    std::string name;   ///< L1, L2, L3, DRAM
    Bytes capacity;     ///< of one instance
    int instances = 1;  ///< on the whole machine
    int shared_by = 1;  ///< hardware threads that share one instance
};

/// A figure of a public guide, not measured: the most that one core can do per clock.
struct SpecRate {
    std::string kind;       ///< of the ceiling it stands beside: "compute" or "bandwidth"
    std::string level;      ///< L1, L2; "core" for compute
    std::string operation;  ///< as the ceiling's
    std::string isa;        ///< empty: whatever the instruction set
    std::string precision;  ///< empty: whatever the precision
    double per_clock = 0;   ///< FLOPs or bytes per clock and core
    std::string source;     ///< the microarchitecture, and the guide that says so
};

struct Device {
    std::string name;   ///< "cpu", "gpu:0"
    std::string kind;   ///< "cpu", "gpu"
    std::string model;  ///< the vendor's name
    std::vector<MemoryLevel> levels;
    Bytes memory;  ///< capacity
    Bytes memory_available;
    std::map<std::string, std::string> facts;  ///< anything else worth keeping: clocks, capability, driver
    std::vector<SpecRate> spec_rates{};        ///< empty where no figures are known
    std::vector<std::string> others{};         ///< devices that are to work with it, a rank on each; empty usually
};

/// A capability of the machine or of this build, present or not, and what would bring it.
struct Capability {
    std::string name;  ///< "hardware counters", "gpu", "avx512", "huge pages"
    bool present = false;
    std::string reason;  ///< why (not)
    std::string remedy;  ///< what to do to get it; empty if nothing can be done or need be
};

struct Machine {
    std::string name;  ///< slug for the results folder, from model and core count; never the host's name
    std::string cpu_model;
    std::string vendor;
    int family = 0;
    int model = 0;
    int stepping = 0;
    int sockets = 1;
    int cores = 1;    ///< physical cores this process may use
    int threads = 1;  ///< hardware threads this process may use
    int smt = 1;      ///< hardware threads per core
    int numa_nodes = 1;
    std::vector<std::string> isa;       ///< of scalar, sse, avx2, avx512: those usable, narrowest first
    std::vector<std::string> features;  ///< fma, avx512_bf16, avx512_vnni, amx_bf16, …
    std::string hypervisor;             ///< empty on bare metal
    std::string governor;
    std::string huge_pages;  ///< transparent huge page mode
    Hertz clock_reported;    ///< as the system says; 0 if it does not
    std::vector<Device> devices;
    std::vector<Capability> capabilities;
    std::vector<std::string>
        inconsistencies;  ///< where a report contradicts another or is known to be doubtful in a VM
    std::map<std::string, std::string> versions;  ///< roof, revision, compiler, kernel, oneDNN, CUDA, …

    /// Throws InputError naming the devices there are.
    const Device& device(const std::string& name) const;
    /// Null where there is none of that name.
    const Device* find_device(const std::string& name) const;
};

YAML::Node to_yaml(const Machine& machine);
/// Throws InputError with file and line.
Machine read_machine(const std::filesystem::path& file);

}  // namespace roof
