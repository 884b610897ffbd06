// Synthetic probes that accept all axes of the built-in plans of calibrations, and command lines on them.
#pragma once

#include "tests/tools/workbench.hpp"

#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace roof::tests {

inline constexpr double launch_seconds = 1e-3;

inline fakes::FakeSubject::Script compute_script(const Point& point)
{
    fakes::FakeSubject::Script script;
    script.work.flops = Flops{50e9 * static_cast<double>(point.integer("threads")) * launch_seconds};
    script.work.compulsory = script.work.no_reuse = Bytes{1e9 * launch_seconds};
    script.clock = Hertz{2e9};
    script.rest_seconds = launch_seconds;
    return script;
}

inline fakes::FakeSubject::Script bandwidth_script(const Point& point)
{
    fakes::FakeSubject::Script script;
    const double rate = point.integer("working_set") <= 1 << 20 ? 400e9 : 50e9;
    script.work.compulsory = script.work.no_reuse = Bytes{rate * launch_seconds};
    script.rest_seconds = launch_seconds;
    return script;
}

/// A registry of probes whose clock is slower by `slowdown`.
inline BenchRegistry probing_registry(const fakes::ManualClock& clock, double slowdown)
{
    const Axis operation = words("operation", "load");
    const Axis isa = words("isa", "avx2");
    const Axis precision = words("precision", "fp32");
    const Axis pages = words("pages", "huge");
    const Axis threads{"threads", "threads", {"1", "2"}, {}, true, 1, 2};
    Axis working_set{"working_set", "bytes", {}, {}, true, 1024, 1LL << 40, {"levels", "edges", "fastest", "memory"}};
    for (long long size = 8192; size <= 1 << 28; size *= 2) working_set.defaults.push_back(std::to_string(size));
    const auto slower = [slowdown](const auto& script) {
        return [=](const Point& point) {
            fakes::FakeSubject::Script made = script(point);
            made.rest_seconds *= slowdown;
            return made;
        };
    };
    BenchRegistry registry;
    registry.machine() = fakes::fake_machine();
    const auto add = [&](const std::string& name, Role role, std::vector<Axis> axes, const auto& script) {
        registry.add(std::make_unique<fakes::FakeBench>(name, role, std::move(axes), slower(script), clock));
    };
    add("flops", Role::compute, {operation, isa, precision, threads, words("placement", "cores")}, compute_script);
    add("bandwidth", Role::bandwidth, {operation, isa, threads, pages, working_set}, bandwidth_script);
    add("latency", Role::latency, {pages, working_set}, bandwidth_script);
    add("numa", Role::bandwidth, {operation, words("cpu_node", "0"), words("memory_node", "0"), working_set},
        bandwidth_script);
    add("ert", Role::compute, {words("intensity", "1/4"), precision, threads, working_set}, compute_script);
    registry.add(AbsentPart{"cores", "the fake cores exchange no lines", "", "core_to_core"});
    return registry;
}

inline Said roof_on(const Workbench& bench, const std::vector<std::string>& words,
                    const std::function<BenchRegistry()>& registry)
{
    std::ostringstream out;
    std::ostringstream err;
    const auto never = [] { return false; };
    const int status =
        run_command_line(words, {out, err, registry, bench.clock.clock(), Terminal{}, never, bench.folder / "results"});
    return {status, out.str(), err.str()};
}

inline Said calibrate_on(const Workbench& bench, const std::vector<std::string>& options,
                         const std::function<BenchRegistry()>& registry)
{
    std::vector<std::string> words{"calibrate"};
    words.insert(words.end(), options.begin(), options.end());
    return roof_on(bench, words, registry);
}

inline Said calibrate(const std::vector<std::string>& options, const Workbench& bench = {}, double slowdown = 1)
{
    return calibrate_on(bench, options, [&] { return probing_registry(bench.clock, slowdown); });
}

}  // namespace roof::tests
