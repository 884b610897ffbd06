// Shared by the tests of the CPU probes: points, invented machines, and a launch without a measuring loop.
#pragma once

#include "cpu/probes/probes.hpp"
#include "ert/method/bench/bench.hpp"

#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace roof::cpu::test {

inline Point point(std::initializer_list<std::pair<std::string, std::string>> values)
{
    Point made;
    for (const auto& [axis, value] : values) made.set(axis, value);
    return made;
}

inline ProbeContext context(Processors processors, std::vector<MemoryNode> nodes = {})
{
    return {std::move(processors), std::move(nodes), {}};
}

/// Two cores with SSE, and 32 KiB of L1 and 1 MiB of L2 each. The available memory is unknown.
inline Machine small_machine()
{
    Machine machine;
    machine.isa = {"scalar", "sse"};
    machine.threads = 2;
    machine.devices.resize(1);
    machine.devices.front().name = "cpu";
    machine.devices.front().levels = {{"L1", Bytes{32 << 10}, 2, 1}, {"L2", Bytes{1 << 20}, 2, 1}};
    return machine;
}

/// Throws std::out_of_range for an unknown name.
inline const Axis& axis(const std::vector<Axis>& axes, const std::string& name)
{
    for (const Axis& candidate : axes) {
        if (candidate.name == name) return candidate;
    }
    throw std::out_of_range("no axis " + name);
}

inline void launch_and_check(Subject& subject)
{
    const Clock clock = [] { return Seconds{}; };
    Trace trace(clock, 0);
    subject.launch(trace);
    subject.check();
}

}  // namespace roof::cpu::test
