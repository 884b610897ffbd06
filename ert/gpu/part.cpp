// The GPU's ceilings as a part: what the shared object adds to the registry that opened it.
#include "ert/gpu/device.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/method/bench/bench_registry.hpp"

#include <string>

/// Adds the GPUs found, or the reason why there are none, and all benches.
extern "C" void roof_add_part(roof::BenchRegistry& registry)
{
    using namespace roof::gpu;
    const Libraries libraries{Nvml::open(), CublasLt::open(), Nccl::open()};
    describe_devices(registry.machine(), libraries.nvml.get());
    const int oldest = oldest_capability();
    registry.machine().versions["GPU kernels"] =
        "compute capability " + std::to_string(oldest / 10) + "." + std::to_string(oldest % 10) + " and newer";
    registry.measure_power_with(
        "gpu", [nvml = libraries.nvml](const roof::Device& device) { return power_meter(nvml, device); });
    for (GpuBench& bench : all_benches(libraries)) registry.add(make_bench(std::move(bench), libraries.nvml));
}
