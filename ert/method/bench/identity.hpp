// By what one machine is told from another: the one list for calibrations, for rows that are appended, and for the
// Python package, which reads it from `roof doctor --json`.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <string>
#include <utility>
#include <vector>

namespace roof {

/// Names and values. An empty value is not known.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// Of Machine::versions; empty if it is not known.
std::string version_of(const Machine& machine, const std::string& part);

/// Host, processor, threads that may be used, quota, instruction sets, caches.
Facts identity_of(const Machine& machine);

/// What changes on one machine: kernel, microcode, governor of the clock, memory.
Facts state_of(const Machine& machine);

/// The facts that both have and that differ: "quota '0.5', not '2'". Empty if none does. Hosts are left to
/// is_same_host().
std::string differing_facts(const Facts& there, const Facts& here);

/// By the ids of both hosts and the names of their nodes; by the names alone where an id is missing. A container's name
/// is made by chance, so it tells no host from another. A host without a name may be any.
bool is_same_host(const Machine& a, const Machine& b);

// Which machine of several equal ones this is.

/// `given` if it is not empty, else the first of the environment's SLURMD_NODENAME and NODE_NAME, else the host's name;
/// empty if there is none. Names from the system are cut after 64 characters, and '-' stands for every character that
/// no node's name may have. Throws InputError for a `given` that is no node's name.
std::string node_name(const std::string& given = {});

/// A host id that stands for none: the node's name is a container's, which was made by chance.
inline constexpr const char* in_container = "container";

/// A checksum of the system's machine-id, or of the board's id where that cannot be read; the former is an image's in a
/// container, and is left out there. Empty if neither can be read, and where a batch system names the node.
std::string host_id();

/// Whether `text` has 1 to 64 letters, digits, '.', '_' and '-', and begins with a letter or a digit.
bool is_node_name(const std::string& text);

/// The node of each rank, where mpirun or srun started this process among several; else empty. They are a fact of the
/// device "cpu".
std::vector<std::string> rank_nodes(const Machine& machine);
/// Throws InputError for a machine without a device "cpu".
void set_rank_nodes(Machine& machine, const std::vector<std::string>& nodes);
/// The number of different nodes among those.
std::size_t count_nodes(const Machine& machine);

}  // namespace roof
