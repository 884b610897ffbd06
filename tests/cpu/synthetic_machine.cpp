#include "tests/cpu/synthetic_machine.hpp"

#include "cpu/kernels/forms.hpp"
#include "cpu/probes/choices.hpp"
#include "cpu/probes/probes.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include <hwloc.h>

namespace roof::cpu::test {

namespace {

/// A real bench whose subjects only take time.
class TimedBench : public Bench {
  public:
    TimedBench(std::unique_ptr<Bench> real, fakes::ManualClock clock)
        : Bench({real->name(), real->role(), real->device_kind(), real->description()}),
          real_(std::move(real)),
          clock_(std::move(clock))
    {
    }

    std::vector<Axis> axes(const Machine& machine) const override { return real_->axes(machine); }
    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device& device) const override
    {
        return real_->unsupported_reason(point, machine, device);
    }
    std::unique_ptr<Subject> create(const Point& point, const Machine& machine, const Device& device) const override
    {
        constexpr double search_seconds = 4e-3;
        constexpr double written_per_second = 3e9;  // by one thread, pages included
        constexpr double launch_seconds = 0.45e-3;  // with the readings of the clock
        const double threads = point.has("threads") ? static_cast<double>(point.integer("threads")) : 1;
        const double set = point.has("working_set") ? static_cast<double>(point.integer("working_set")) : 0;
        double& written = written_[threads];
        clock_.advance(search_seconds + std::max(0.0, set - written) / threads / written_per_second);
        written = std::max(written, set);

        fakes::FakeSubject::Script script;
        const double rate = rate_of(set, threads, device) * std::min<double>(threads, machine.cores);
        script.work.compulsory = script.work.no_reuse = Bytes{rate * launch_seconds};
        script.work.flops = real_->role() == Role::compute ? Flops{1e11 * launch_seconds * threads} : Flops{};
        script.rest_seconds = launch_seconds;
        script.clock = Hertz{3e9};
        return std::make_unique<fakes::FakeSubject>(std::move(script), clock_);
    }

  private:
    /// Bytes per second of one thread, by the innermost cache that holds the set.
    static double rate_of(double set, double threads, const Device& device)
    {
        double rate = 300e9;
        for (const MemoryLevel& level : device.levels) {
            const double used = std::clamp(threads / level.shared_by, 1.0, static_cast<double>(level.instances));
            if (set <= level.capacity.value * used) return rate;
            rate /= 2.2;
        }
        return rate;
    }

    std::unique_ptr<Bench> real_;
    fakes::ManualClock clock_;
    mutable std::map<double, double> written_;
};

Machine machine_of(const Layout& layout, const ProbeContext& context)
{
    constexpr double memory = 512e9;
    Machine machine;
    machine.name = "synthetic";
    machine.isa = {"scalar", "sse", "avx2", "avx512"};
    machine.features = {"fma", "avx512_vnni", "avx512_bf16"};
    machine.sockets = layout.sockets;
    machine.numa_nodes = layout.numa_nodes;
    machine.threads = static_cast<int>(context.processors.spread.size());
    machine.cores = std::min(layout.cores, machine.threads);
    machine.smt = std::max(1, layout.threads / std::max(1, layout.cores));
    Device device;
    device.name = device.kind = "cpu";
    device.memory = device.memory_available = Bytes{memory};
    device.levels = layout.caches;
    device.levels.push_back({"DRAM", device.memory, 1, layout.machine_threads});
    machine.devices = {device};
    return machine;
}

}  // namespace

Layout synthetic_layout(const std::string& description, const std::vector<int>& allowed,
                        const std::function<void(hwloc_topology*)>& prepare)
{
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0 || hwloc_topology_set_synthetic(topology, description.c_str()) != 0 ||
        hwloc_topology_load(topology) != 0)
        throw std::runtime_error("hwloc does not understand " + description);
    if (prepare) prepare(topology);
    std::vector<int> some = allowed;
    std::ranges::sort(some);
    const int all = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    for (int processor = 0; allowed.empty() && processor < all; ++processor) some.push_back(processor);
    Layout found = layout_of(topology, some);
    hwloc_topology_destroy(topology);
    return found;
}

ProbeContext context_of(const SyntheticMachine& machine)
{
    const Layout layout = synthetic_layout(machine.description, machine.allowed, machine.prepare);
    const Topology granted = granted_topology(layout, machine.quota);
    return {granted.processors, granted.nodes, granted.thread_counts};
}

BenchRegistry registry_of(const SyntheticMachine& machine, const fakes::ManualClock& clock)
{
    const ProbeContext context = context_of(machine);
    BenchRegistry registry;
    registry.machine() = machine_of(synthetic_layout(machine.description, machine.allowed, machine.prepare), context);
    for (const auto& make : {flops_bench, bandwidth_bench, latency_bench, core_to_core_bench, numa_bench, ert_bench})
        registry.add(std::make_unique<TimedBench>(make(context), clock));
    return registry;
}

}  // namespace roof::cpu::test
