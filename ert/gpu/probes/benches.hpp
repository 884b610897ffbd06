// All benches of a GPU. The source file of each begins with its contract: what is launched and counted, and what would
// falsify it.
#pragma once

#include "ert/gpu/probes/gpu_bench.hpp"

namespace roof::gpu {

GpuBench allreduce_bench(const Libraries& libraries);
GpuBench bandwidth_bench(const Libraries& libraries);
GpuBench distance_bench(const Libraries& libraries);
GpuBench ert_bench(const Libraries& libraries);
GpuBench flops_bench(const Libraries& libraries);
GpuBench latency_bench(const Libraries& libraries);
GpuBench launch_bench(const Libraries& libraries);
GpuBench link_bench(const Libraries& libraries);
GpuBench matmul_bench(const Libraries& libraries);
GpuBench partition_bench(const Libraries& libraries);
GpuBench peer_bench(const Libraries& libraries);
GpuBench shared_bench(const Libraries& libraries);

}  // namespace roof::gpu
