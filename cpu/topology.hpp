// The machine's own report: cores, caches, instruction sets, and inconsistencies between sources. Nothing here is
// measured. If two sources disagree, both values are kept.
#pragma once

#include "cpu/system.hpp"
#include "ert/method/bench/machine.hpp"

#include <map>
#include <string>
#include <vector>

struct hwloc_topology;

namespace roof::cpu {

/// The same processors in the two orders of placement.
struct Processors {
    std::vector<int> spread;  ///< one of every core, then their siblings
    std::vector<int> packed;  ///< all of one core, then the next core
};

/// A NUMA node, and the processors nearest to it.
struct MemoryNode {
    int number = 0;  ///< from the operating system
    Processors processors;
    int socket = 0;  ///< from 0
};

/// The cores that do as much as the first one where nobody shares them.
struct AlikeCores {
    std::vector<int> processors;  ///< all of the first core's kind
    std::vector<int> near;        ///< one of each such core of its NUMA node: one thread may run on any of them
};

struct Topology {
    Machine machine;  ///< with the device "cpu"
    /// The processors for this process; fewer if its control group limits processor time.
    Processors processors;
    std::vector<MemoryNode> nodes;
    AlikeCores alike;                ///< of `processors`
    std::vector<int> thread_counts;  ///< to measure by default, ascending
};

/// Throws Error if the topology cannot be read.
Topology read_topology();

/// The cores and caches that the process may use.
struct Layout {
    int sockets = 1;
    int numa_nodes = 1;
    int cores = 0;                  ///< with at least one allowed thread
    int threads = 0;                ///< in the affinity mask
    int machine_threads = 0;        ///< allowed or not
    int cores_of_node = 0;          ///< allowed cores near the first node that has any
    int cores_of_socket = 0;        ///< allowed cores of the first socket that has any
    int fast_cores = 0;             ///< allowed cores of the fastest kind
    Processors processors;          ///< allowed; cores of the fastest kind first
    std::vector<MemoryNode> nodes;  ///< by number; a node may have no allowed processor
    AlikeCores alike;
    std::vector<MemoryLevel> caches;                 ///< L1 (data) outwards
    std::map<std::string, std::string> processor{};  ///< name and numbers, by the keys of /proc/cpuinfo
};
Layout read_layout();

/// The layout of any loaded hwloc topology, restricted to the processors in `allowed`, by the kernel's numbers.
Layout layout_of(hwloc_topology* topology, const std::vector<int>& allowed);

/// The part of the layout for a process whose control group grants `quota` processors' worth of time; 0: no limit.
/// Takes as many processors as that keeps busy without throttling, at least one. The machine stays empty.
/// `thread_counts`: one; all cores of the fastest kind, of a NUMA node and of a socket; all cores; all hardware
/// threads.
Topology granted_topology(const Layout& layout, double quota);

// What the machine's reports about itself show (reports.cpp): capabilities, with a reason for each and a remedy if
// there is one; contradictions between reports, and reports known to be unreliable. Functions of the reports, so that
// tests can cover any machine.

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
