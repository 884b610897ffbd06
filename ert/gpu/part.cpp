// The GPU's ceilings as a part: what the shared object gives to the lab that opened it.
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
#include "ert/method/lab/lab.hpp"

/// Adds the GPUs found, or the reason why there are none, and the benches they offer.
extern "C" void roof_add_part(roof::Lab& lab)
{
    using namespace roof::gpu;
    const std::shared_ptr<const Nvml> nvml = Nvml::open();
    describe_devices(lab.machine(), nvml.get());
    lab.add(flops_bench(nvml));
    lab.add(matmul_bench(CublasLt::open(), nvml));
    lab.add(bandwidth_bench(nvml));
    lab.add(shared_bench(nvml));
    lab.add(latency_bench(nvml));
    lab.add(distance_bench(nvml));
    lab.add(partition_bench(nvml));
    lab.add(launch_bench(nvml));
    lab.add(link_bench(nvml));
    lab.add(peer_bench(nvml));
    lab.add(allreduce_bench(Nccl::open(), nvml));
    lab.add(ert_bench(nvml));
}
