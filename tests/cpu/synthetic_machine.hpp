// Machines that nobody has here, as hwloc describes them: their layout, and a registry whose benches have the axes of
// the real ones and take invented times.
#pragma once

#include "cpu/probes/probes.hpp"
#include "cpu/topology.hpp"
#include "ert/method/bench/bench_registry.hpp"
#include "tests/fakes/fake_registry.hpp"

#include <functional>
#include <string>
#include <vector>

struct hwloc_topology;

namespace roof::cpu::test {

/// The layout of a synthetic topology. `allowed`: empty allows all processors. `prepare`: changes the loaded topology.
Layout synthetic_layout(const std::string& description, const std::vector<int>& allowed = {},
                        const std::function<void(hwloc_topology*)>& prepare = {});

struct SyntheticMachine {
    std::string description;
    std::vector<int> allowed{};
    double quota = 0;  ///< processors' worth of time; 0: unlimited
    std::function<void(hwloc_topology*)> prepare{};
};

/// What the probes get of such a machine.
ProbeContext context_of(const SyntheticMachine& machine);

/// The benches of the CPU on such a machine with AVX-512. A launch of bandwidth takes the time that a simple model of
/// its caches gives; others take 0.3 ms. Making a subject takes some milliseconds and the time to write its memory.
BenchRegistry registry_of(const SyntheticMachine& machine, const fakes::ManualClock& clock);

}  // namespace roof::cpu::test
