// Which of the processors a rank keeps to, so that ranks on one machine do not move each other about.
#pragma once

#include "workloads/parallel/place.hpp"

#include <functional>
#include <vector>

namespace roof::parallel {

/// The processors this thread may run on, by their numbers.
std::vector<int> allowed_cpus();
/// The rank's part of `all`, in one piece; empty if there are fewer than ranks.
std::vector<int> cpus_of(int rank, int ranks, const std::vector<int>& all);
/// The number of a processor's core, that of its first hardware thread; its own where the system does not say.
int core_of(int cpu);
/// The processors in the order in which threads should take them: one of each core, then the cores' second ones, and so on.
std::vector<int> cores_first(const std::vector<int>& cpus, const std::function<int(int cpu)>& core);
/// From now on this thread, and those it starts, run there alone; on an empty list nothing happens.
void keep_to(const std::vector<int>& cpus);

/// Threads of one rank, of so many for all ranks here: an equal part, at least 1.
int threads_of_rank(int threads, int ranks_here);

}  // namespace roof::parallel
