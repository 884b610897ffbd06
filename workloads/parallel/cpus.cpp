#include "workloads/parallel/cpus.hpp"

#include <sched.h>

#include <algorithm>

namespace roof::parallel {

std::vector<int> allowed_cpus()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> cpus;
    if (sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
    return cpus;
}

std::vector<int> cpus_of(int rank, int ranks, const std::vector<int>& all)
{
    const auto count = static_cast<int>(all.size());
    if (count < ranks) return {};
    return {all.begin() + count * rank / ranks, all.begin() + count * (rank + 1) / ranks};
}

void keep_to(const std::vector<int>& cpus)
{
    if (cpus.empty()) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int cpu : cpus) CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);  // where it is refused, the system's own choice stands
}

int threads_of_rank(int threads, int ranks_here)
{
    return std::max(1, threads / ranks_here);
}

}  // namespace roof::parallel
