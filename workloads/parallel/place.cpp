#include "workloads/parallel/place.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>

namespace roof::parallel {

namespace {

std::optional<int> number_in(const char* variable)
{
    const char* const text = std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    const std::string word = text;
    const std::optional<int> number = parse_number<int>(word);
    if (!number) throw InputError(std::string(variable) + ": '" + printable(word) + "' is no whole number");
    return *number;
}

Place checked(const Place& place)
{
    if (place.rank < 0 || place.rank >= place.ranks)
        throw InputError("the environment says this is rank " + std::to_string(place.rank) + " of " +
                         std::to_string(place.ranks));
    if (place.ranks_here < 1 || place.ranks_here > place.ranks || place.rank_here < 0)
        throw InputError("the environment says that " + std::to_string(place.ranks_here) + " of " +
                         std::to_string(place.ranks) + " ranks are on this machine");
    return place;
}

/// Of a step of Slurm; machines may have different numbers of tasks.
int tasks_here(int ranks)
{
    const char* const counts = std::getenv("SLURM_STEP_TASKS_PER_NODE");
    const auto machine = number_in("SLURM_NODEID");
    if (counts != nullptr && machine) return tasks_of_machine(counts, *machine);
    const int machines = number_in("SLURM_STEP_NUM_NODES").value_or(1);
    return (ranks + machines - 1) / machines;
}

/// Started by srun, if its step has an MPI plug-in.
std::optional<Place> place_in_slurm_step()
{
    const auto rank = number_in("SLURM_PROCID");
    const auto ranks = number_in("SLURM_STEP_NUM_TASKS");
    const bool has_mpi = std::getenv("PMIX_RANK") != nullptr || std::getenv("PMI_RANK") != nullptr;
    if (!has_mpi || !rank || !ranks) return std::nullopt;
    return checked({Launcher::mpi, *rank, *ranks, tasks_here(*ranks), number_in("SLURM_LOCALID").value_or(0)});
}

int whole_number(const std::string& text, const std::string& whole)
{
    const int number = parse_number<int>(text).value_or(0);
    if (number < 1) throw InputError("'" + printable(whole) + "' is no list of tasks per machine, as 2(x3),1 is");
    return number;
}

}  // namespace

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

int threads_of_rank(int threads, int ranks_here)
{
    return std::max(1, threads / ranks_here);
}

int tasks_of_machine(const std::string& counts, int number)
{
    for (const std::string& group : split(counts, ',')) {
        const std::size_t cut = group.find("(x");
        const int tasks = whole_number(group.substr(0, cut), counts);
        int machines = 1;
        if (cut != std::string::npos) {
            const std::string times = group.substr(cut + 2);
            if (!times.ends_with(')')) throw InputError("'" + printable(counts) + "' is no list of tasks per machine");
            machines = whole_number(times.substr(0, times.size() - 1), counts);
        }
        if (number < machines) return tasks;
        number -= machines;
    }
    throw InputError("'" + printable(counts) + "' lists fewer machines than the job has");
}

std::string remark_on_machines(const Place& place)
{
    if (!place.spans_machines()) return {};
    return std::to_string(place.ranks) + " ranks on several machines, " + std::to_string(place.ranks_here) +
           " on this one: FLOPs, bytes and images are those of all";
}

void check_place(const Place& place, int rank, int ranks)
{
    if (place.rank == rank && place.ranks == ranks) return;
    throw InputError("the environment says that this process is rank " + std::to_string(place.rank) + " of " +
                     std::to_string(place.ranks) + " of MPI, but roof's MPI says rank " + std::to_string(rank) +
                     " of " + std::to_string(ranks) +
                     ": the variables (OMPI_COMM_WORLD_RANK, PMI_RANK, …) are of another job or of another MPI; unset "
                     "them, or start roof by the mpirun of the MPI that it was built with");
}

Place place_of_process()
{
    if (const auto rank = number_in(rank_variable)) {
        const int ranks = number_in(ranks_variable).value_or(0);
        return checked({Launcher::roof, *rank, ranks, ranks, *rank, number_in(memory_variable).value_or(-1)});
    }
    if (const auto ranks = number_in("OMPI_COMM_WORLD_SIZE")) {
        return checked({Launcher::mpi, number_in("OMPI_COMM_WORLD_RANK").value_or(-1), *ranks,
                        number_in("OMPI_COMM_WORLD_LOCAL_SIZE").value_or(*ranks),
                        number_in("OMPI_COMM_WORLD_LOCAL_RANK").value_or(0)});
    }
    if (const auto place = place_in_slurm_step()) return *place;
    const auto rank = number_in("PMI_RANK");
    const auto ranks = number_in("PMI_SIZE");
    if (!rank || !ranks) return {};
    return checked({Launcher::mpi, *rank, *ranks, number_in("MPI_LOCALNRANKS").value_or(*ranks),
                    number_in("MPI_LOCALRANKID").value_or(0)});
}

}  // namespace roof::parallel
