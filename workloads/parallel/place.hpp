// The rank of this process, from its environment: started by roof itself, by mpirun or srun, or by a person; and its
// processors.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace roof::parallel {

// The processors of each rank: ranks on one machine do not share any where there are enough.

/// The rank's contiguous part of `all`; empty if there are fewer processors than ranks.
std::vector<int> cpus_of(int rank, int ranks, const std::vector<int>& all);
/// The number of the first hardware thread of this processor's core; `cpu` itself where the system does not report it.
int core_of(int cpu);
/// The processors in the order in which threads should take them: one of each core, then the cores' second ones, and
/// so on.
std::vector<int> cores_first(const std::vector<int>& cpus, const std::function<int(int cpu)>& core);

/// Threads of one rank, of so many for all ranks here: an equal part, at least 1.
int threads_of_rank(int threads, int ranks_here);

enum class Launcher { none, roof, mpi };

struct Place {
    Launcher launcher = Launcher::none;
    int rank = 0;
    int ranks = 1;
    int ranks_here = 1;   ///< on this machine
    int rank_here = 0;    ///< among those on this machine
    int descriptor = -1;  ///< of the shared memory, if roof started it

    bool spans_machines() const { return ranks_here < ranks; }
};

/// Throws InputError where the environment contradicts itself. mpirun of Open MPI says OMPI_COMM_WORLD_…, that of
/// MPICH and Intel MPI PMI_RANK, PMI_SIZE and MPI_LOCALNRANKS; srun with an MPI plug-in says PMIX_RANK or PMI_RANK
/// beside SLURM_…; a batch script that calls roof without srun is alone.
Place place_of_process();

/// Throws InputError if MPI gave the process another place than the environment says, as where the variables are
/// another job's.
void check_place(const Place& place, int rank, int ranks);

/// Of Slurm's counts per machine, "2(x3),1", that of machine `number`, from 0. Throws InputError for other texts.
int tasks_of_machine(const std::string& counts, int number);

/// Which ranks measure a message: two of them, or the first `per_node` ranks on each of the first `nodes` nodes.
struct Paths {
    std::vector<std::string> pairs;   ///< "0-1": one rank of each node, or all ranks if they share one node
    std::vector<std::string> groups;  ///< "2x1" is two nodes with one rank each
};
/// `nodes`: that of each rank. Of more than 16 nodes not all pairs are listed but five random pairings.
Paths paths_between(const std::vector<std::string>& nodes);
/// The ranks of a path, sorted. Throws InputError for other texts, and for ranks and nodes that are not there.
std::vector<int> ranks_on(const std::string& path, const std::vector<std::string>& nodes);

/// The remark on a row of ranks on several machines; empty for one machine.
std::string remark_on_machines(const Place& place);

/// What roof sets for the ranks it starts.
inline constexpr const char* rank_variable = "ROOF_RANK";
inline constexpr const char* ranks_variable = "ROOF_RANKS";
inline constexpr const char* memory_variable = "ROOF_RANK_MEMORY";

}  // namespace roof::parallel
