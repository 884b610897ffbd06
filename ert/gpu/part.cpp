// The GPU's ceilings as a part: what the shared object gives to the registry that opened it.
#include "ert/gpu/cublaslt.hpp"
#include "ert/gpu/device.hpp"
#include "ert/gpu/nccl.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/gpu/probes/allreduce.hpp"
#include "ert/gpu/probes/bandwidth.hpp"
#include "ert/gpu/probes/distance.hpp"
#include "ert/gpu/probes/ert.hpp"
#include "ert/gpu/probes/flops.hpp"
#include "ert/gpu/probes/latency.hpp"
#include "ert/gpu/probes/launch.hpp"
#include "ert/gpu/probes/link.hpp"
#include "ert/gpu/probes/matmul.hpp"
#include "ert/gpu/probes/partition.hpp"
#include "ert/gpu/probes/peer.hpp"
#include "ert/gpu/probes/shared.hpp"
#include "ert/method/bench/bench_registry.hpp"

/// Adds the GPUs found, or the reason why there are none, and the benches they offer.
extern "C" void roof_add_part(roof::BenchRegistry& registry)
{
    using namespace roof::gpu;
    const std::shared_ptr<const Nvml> nvml = Nvml::open();
    describe_devices(registry.machine(), nvml.get());
    registry.add(flops_bench(nvml));
    registry.add(matmul_bench(CublasLt::open(), nvml));
    registry.add(bandwidth_bench(nvml));
    registry.add(shared_bench(nvml));
    registry.add(latency_bench(nvml));
    registry.add(distance_bench(nvml));
    registry.add(partition_bench(nvml));
    registry.add(launch_bench(nvml));
    registry.add(link_bench(nvml));
    registry.add(peer_bench(nvml));
    registry.add(allreduce_bench(Nccl::open(), nvml));
    registry.add(ert_bench(nvml));
}
