#include "workloads/parallel/cpus.hpp"

#include "ert/base/files.hpp"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>

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

int core_of(int cpu)
{
    std::ifstream siblings =
        open_if_there("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
    int first = cpu;
    return siblings >> first ? first : cpu;
}

std::vector<int> cores_first(const std::vector<int>& cpus, const std::function<int(int cpu)>& core)
{
    std::map<int, int> taken;  // hardware threads of a core
    std::multimap<int, int> by_turn;
    for (const int cpu : cpus) by_turn.emplace(taken[core(cpu)]++, cpu);
    std::vector<int> order;
    for (const auto& [turn, cpu] : by_turn) order.push_back(cpu);
    return order;
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
