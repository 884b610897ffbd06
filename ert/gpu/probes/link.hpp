// Bench "link" of a GPU: what goes between host memory and the device.
//
// Launched    copies into the device's memory, out of it, or both at once on two streams; from pinned memory straight, from
//             pageable memory through the driver's own buffers. zero_copy: a kernel that reads or writes pinned host memory itself.
// Saturates   PCIe, or whatever lies in between.
// Bytes       of the arrays, each once; both ways at once: of both.
// Time        device events around all copies, the second stream forked from and joined to the first.
// Falsified   if what arrived is not what was sent.
#pragma once

#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::gpu {

/// `nvml` may be null.
std::unique_ptr<Bench> link_bench(std::shared_ptr<const Nvml> nvml);

}  // namespace roof::gpu
