// Messages of the bench `network` from GPU to GPU by NCCL.
#pragma once

#include "workloads/parallel/network_bench.hpp"

namespace roof::nccl {

parallel::Carrier device_carrier();

}  // namespace roof::nccl
