// Bench "allreduce" of the GPUs of a machine: what each GPU's links carry while all sum their arrays, by NCCL.
//
// Launched    ncclAllReduce of floats, out of place, one rank on each GPU, all ranks enqueued by this one thread: of small
//             messages that is part of the time.
// Saturates   the links between the GPUs, or for small messages the time of a step between them.
// Bytes       operation "bus": the message times 2(N-1)/N, what each of N GPUs must send, and receive; "algorithm": the message
//             once; "alone": the message once, with this GPU as the only rank. That shows that the function works, and is
//             neither a bandwidth of any link nor a ceiling.
// Time        device events on the first GPU, the other streams forked from its stream and joined to it.
// Falsified   if any GPU has other sums than the host's, which are whole numbers and exact in any order.
#pragma once

#include "ert/gpu/nccl.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>

namespace roof::gpu {

/// Both may be null; without the library every point is unsupported.
std::unique_ptr<Bench> allreduce_bench(std::shared_ptr<const Nccl> library, std::shared_ptr<const Nvml> nvml);

}  // namespace roof::gpu
