// Messages of the bench `network` from GPU to GPU by NCCL.
#pragma once

#include "ert/method/bench/machine.hpp"
#include "workloads/parallel/network_bench.hpp"
#include "workloads/parallel/place.hpp"

#include <optional>
#include <string>

namespace roof::nccl {

/// Why NCCL cannot give each rank a GPU of its own, or nothing. `devices`: those that the ranks of this machine divide; with one, every
/// rank takes that one.
std::optional<std::string> lacking_devices(const parallel::Place& place, const Device& devices);

parallel::Carrier device_carrier();

}  // namespace roof::nccl
