// Ranks on GPUs: the buckets of their gradients, and what they need of NCCL.
#pragma once

#include "workloads/cudnn/device_program.hpp"
#include "workloads/parallel/exchange.hpp"
#include "workloads/parallel/place.hpp"

namespace roof::cudnn {

/// Divides the block of gradients, which lie in the order in which the backward pass completes them, into buckets of at
/// least `least_bytes`, with the padding between parameters, which is zero and stays zero in sums.
parallel::Packing pack(const Parameters& parameters, std::size_t least_bytes);

inline constexpr const char* lacking_nccl = "ranks on GPUs exchange gradients by NCCL, and libnccl.so.2 was not found";

/// Returns whether NCCL is told to let ranks share a GPU: by NCCL_HOSTID, or from 2.30 on by
/// NCCL_MULTI_RANK_GPU_ENABLE=1, which an older one ignores and refuses them. For functional tests only.
bool may_share_gpu();
/// If so, makes NCCL_HOSTID unique to the rank. Call it before the first use of NCCL in the process.
void claim_own_machine(const parallel::Place& place);

}  // namespace roof::cudnn
