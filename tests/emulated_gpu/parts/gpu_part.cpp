// roof_gpu.so on the emulated device, for tests alone: the real part, marked, and if asked for a bench that fails.
#include "ert/gpu/device.hpp"
#include "ert/gpu/nvml.hpp"
#include "tests/emulated_gpu/parts/fake_profiler.hpp"
#include "tests/emulated_gpu/parts/marked.hpp"
#include "tests/emulated_gpu/parts/trap_bench.hpp"

#include <cstdlib>

namespace roof::emulated {
extern "C" void roof_add_real_part(BenchRegistry& registry);
}

extern "C" void roof_add_part(roof::BenchRegistry& registry)
{
    using namespace roof::emulated;
    add_marked(registry, [](roof::BenchRegistry& real) {
        roof_add_real_part(real);
        if (std::getenv("ROOF_EMULATED_TRAP") != nullptr) add_trap(real);
    });
    if (std::getenv("ROOF_EMULATED_PROFILER") != nullptr) registry.add(roof::emulated::fake_profiler());
    registry.measure_power_with("gpu", [nvml = roof::gpu::Nvml::open()](const roof::Device& device) {
        return roof::gpu::power_meter(nvml, device);
    });
}
