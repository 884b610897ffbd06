// The processors of each rank: ranks on one machine do not share any where there are enough.
#pragma once

#include "workloads/parallel/place.hpp"

#include <functional>
#include <vector>

namespace roof::parallel {

/// The processors this thread may run on, by their numbers.
std::vector<int> allowed_cpus();
/// The rank's contiguous part of `all`; empty if there are fewer processors than ranks.
std::vector<int> cpus_of(int rank, int ranks, const std::vector<int>& all);
/// The number of the first hardware thread of this processor's core; `cpu` itself where the system does not report it.
int core_of(int cpu);
/// The processors in the order in which threads should take them: one of each core, then the cores' second ones, and
/// so on.
std::vector<int> cores_first(const std::vector<int>& cpus, const std::function<int(int cpu)>& core);
/// Restricts this thread, and threads that it starts, to these processors; an empty list changes nothing.
void keep_to(const std::vector<int>& cpus);

/// Threads of one rank, of so many for all ranks here: an equal part, at least 1.
int threads_of_rank(int threads, int ranks_here);

}  // namespace roof::parallel
