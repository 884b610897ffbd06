// The GPU's ceilings as a part: what the shared object gives to the lab that opened it.
#include "ert/gpu/device.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/gpu/probes/flops.hpp"
#include "ert/gpu/probes/stream.hpp"
#include "ert/method/lab.hpp"

/// Adds the GPUs found, or the reason why there are none, and the benches they offer.
extern "C" void roof_add_part(roof::Lab& lab)
{
    const std::shared_ptr<const roof::gpu::Nvml> nvml = roof::gpu::Nvml::open();
    roof::gpu::describe_devices(lab.machine(), nvml.get());
    lab.add(roof::gpu::flops_bench(nvml));
    lab.add(roof::gpu::stream_bench());
}
