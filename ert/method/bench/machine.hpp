// A machine as a document: what it reports of itself, inconsistencies between the reports, and rates from public
// guides. Measured ceilings are rows of results instead.
#pragma once

#include "ert/base/units.hpp"

#include <algorithm>
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

    /// Cores that share one instance, with `smt` hardware threads each.
    int cores_each(int smt) const { return std::max(1, shared_by / std::max(1, smt)); }
    /// Instances that the threads use, one thread per core, if they fill one instance after another.
    int instances_reached(int threads, int smt) const;
};

/// The most that one core can do per clock, according to a public guide. Not measured.
struct SpecRate {
    std::string kind;       ///< of the ceiling: "compute" or "bandwidth"
    std::string level;      ///< L1, L2; "core" for compute
    std::string operation;  ///< as the ceiling's
    std::string isa;        ///< empty: any
    std::string precision;  ///< empty: any
    double per_clock = 0;   ///< FLOPs or bytes per clock and core
    std::string source;     ///< the microarchitecture and the guide
};

struct Device {
    std::string name;   ///< "cpu", "gpu:0"
    std::string kind;   ///< "cpu", "gpu"
    std::string model;  ///< the vendor's name
    std::vector<MemoryLevel> levels;
    Bytes memory;  ///< capacity
    Bytes memory_available;
    std::map<std::string, std::string> facts;  ///< other facts: clocks, capability, driver
    std::vector<SpecRate> spec_rates{};        ///< empty where no figures are known
    std::vector<std::string> others{};         ///< other devices of a group, with a rank on each
};

/// A capability of the machine or of this build, present or not, with the remedy.
struct Capability {
    std::string name;  ///< "hardware counters", "gpu", "avx512", "huge pages"
    bool present = false;
    std::string reason;  ///< why (not)
    std::string remedy;  ///< how to get it; empty if there is no way or no need
};

struct Machine {
    std::string name;  ///< slug for the results folder, from model and core count; never the host's name
    std::string node;  ///< which of several equal machines this is (identity.hpp); empty if not known
    std::string host;  ///< host_id() of identity.hpp
    std::string cpu_model;
    std::string vendor;
    int family = 0;
    int model = 0;
    int stepping = 0;
    int sockets = 1;
    int cores = 1;      ///< physical cores this process may use
    int threads = 1;    ///< hardware threads this process may use
    std::string quota;  ///< of the control group, in processors, or "none"; empty if not known
    int smt = 1;        ///< hardware threads per core
    int numa_nodes = 1;
    std::vector<std::string> isa;       ///< the usable ones of scalar, sse, avx2, avx512, narrowest first
    std::vector<std::string> features;  ///< fma, avx512_bf16, avx512_vnni, amx_bf16, …
    std::string hypervisor;             ///< empty on bare metal
    std::string governor;
    std::string huge_pages;  ///< transparent huge page mode
    Hertz clock_reported;    ///< by the system; 0 if not known
    std::vector<Device> devices;
    std::vector<Capability> capabilities;
    /// Reports that contradict each other or are known to be unreliable in a virtual machine.
    std::vector<std::string> inconsistencies;
    std::map<std::string, std::string> versions;  ///< roof, revision, compiler, kernel, oneDNN, CUDA, …

    /// Throws InputError naming the devices there are.
    const Device& device(const std::string& name) const;
    /// Null if there is none of that name.
    const Device* find_device(const std::string& name) const;
    /// What the device reports of its level; null if there is nothing.
    const MemoryLevel* find_level(const std::string& device, const std::string& level) const;
};

YAML::Node to_yaml(const Machine& machine);
/// Throws InputError with file and line.
Machine read_machine(const std::filesystem::path& file);

// Several devices under one name, "gpu:0,1": a rank of training on each.

/// "cpu" -> "cpu"; "gpu:0", "gpu:0,1" -> "gpu".
std::string kind_of_device(const std::string& name);

/// "gpu:0,1" -> "gpu:0", "gpu:1"; any other name is returned as it is. Throws InputError for a missing or repeated
/// number.
std::vector<std::string> devices_in(const std::string& name);

/// The first of the devices, with the names of the others. Throws InputError naming the devices there are.
Device device_for(const Machine& machine, const std::string& name);

}  // namespace roof
