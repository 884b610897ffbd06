// The GPU's ceilings as a part: what the shared object gives to the lab that opened it.
#include "ert/gpu/device.hpp"
#include "ert/gpu/probes/fma.hpp"
#include "ert/gpu/probes/stream.hpp"
#include "ert/method/lab.hpp"

/// Adds the GPUs found, or the reason why there are none, and the benches they offer.
extern "C" void roof_add_part(roof::Lab& lab)
{
    roof::gpu::describe_devices(lab.machine());
    lab.add(roof::gpu::fma_bench());
    lab.add(roof::gpu::stream_bench());
}
