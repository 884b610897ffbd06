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

}  // namespace roof
