// Bench "launch" of a GPU: what a kernel costs that does nothing. A step of many small kernels cannot be shorter than so many
// times that.
//
// Launched    kernels of one warp in a row, one call of the runtime each (`launch`), or as the nodes of a CUDA graph that is
//             launched whole (`graph`).
// Counts      kernels. Time by device events from before the first to after the last: the host's part shows where it is the
//             slower one.
// Falsified   if more kernels in a row cost another time each.
#pragma once

#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::gpu {

/// `nvml` may be null.
std::unique_ptr<Bench> launch_bench(std::shared_ptr<const Nvml> nvml);

}  // namespace roof::gpu
