// Bench "peer" of a GPU: what goes to the next GPU of the machine, and back.
//
// Launched    copies from one GPU's memory to the other's, or both ways at once on two streams. Where the two can reach each
//             other's memory the copies take that way, NVLink or PCIe; else the driver's, through the host.
// Saturates   the links between the two.
// Bytes       of the arrays, each once; both ways at once: of both.
// Time        device events around all copies, the second stream forked from and joined to the first.
// Falsified   if what arrived is not what was sent.
#pragma once

#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::gpu {

/// `nvml` may be null.
std::unique_ptr<Bench> peer_bench(std::shared_ptr<const Nvml> nvml);

}  // namespace roof::gpu
