#include "ert/base/error.hpp"
#include "workloads/parallel/place.hpp"
#include "workloads/parallel/world.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstdlib>
#include <map>

using namespace roof;
using namespace roof::parallel;

namespace {

/// Sets variables of the environment for its lifetime and unsets all others that a launcher sets.
class Environment {
  public:
    explicit Environment(const std::map<std::string, std::string>& variables)
    {
        for (const char* name : names) unsetenv(name);
        for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    }
    ~Environment()
    {
        for (const char* name : names) unsetenv(name);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

  private:
    static constexpr std::array names{"ROOF_RANK",
                                      "ROOF_RANKS",
                                      "ROOF_RANK_MEMORY",
                                      "OMPI_COMM_WORLD_RANK",
                                      "OMPI_COMM_WORLD_SIZE",
                                      "OMPI_COMM_WORLD_LOCAL_SIZE",
                                      "OMPI_COMM_WORLD_LOCAL_RANK",
                                      "SLURM_PROCID",
                                      "SLURM_STEP_NUM_TASKS",
                                      "SLURM_STEP_NUM_NODES",
                                      "SLURM_STEP_TASKS_PER_NODE",
                                      "SLURM_NODEID",
                                      "SLURM_LOCALID",
                                      "PMIX_RANK",
                                      "PMI_RANK",
                                      "PMI_SIZE",
                                      "MPI_LOCALNRANKS",
                                      "MPI_LOCALRANKID"};
};

}  // namespace

TEST_CASE("without a launcher there is one rank")
{
    const Environment none({});
    CHECK(place_of_process().launcher == Launcher::none);
    CHECK(place_of_process().ranks == 1);
}

TEST_CASE("mpirun, srun and roof each give the rank of a process")
{
    {
        const Environment mpirun({{"OMPI_COMM_WORLD_RANK", "5"},
                                  {"OMPI_COMM_WORLD_SIZE", "8"},
                                  {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                                  {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}});
        const Place place = place_of_process();
        CHECK(place.launcher == Launcher::mpi);
        CHECK((place.rank == 5 && place.ranks == 8 && place.ranks_here == 4 && place.rank_here == 1));
    }
    {
        const Environment srun({{"SLURM_PROCID", "1"},
                                {"SLURM_STEP_NUM_TASKS", "4"},
                                {"SLURM_STEP_NUM_NODES", "2"},
                                {"PMIX_RANK", "1"},
                                {"SLURM_LOCALID", "1"}});
        const Place place = place_of_process();
        CHECK(place.launcher == Launcher::mpi);
        CHECK((place.rank == 1 && place.ranks == 4 && place.ranks_here == 2 && place.rank_here == 1));
    }
    {
        const Environment hydra(
            {{"PMI_RANK", "5"}, {"PMI_SIZE", "6"}, {"MPI_LOCALNRANKS", "3"}, {"MPI_LOCALRANKID", "2"}});
        const Place place = place_of_process();
        CHECK(place.launcher == Launcher::mpi);
        CHECK((place.rank == 5 && place.ranks == 6 && place.ranks_here == 3 && place.rank_here == 2));
    }
    const Environment roof({{"ROOF_RANK", "1"}, {"ROOF_RANKS", "2"}, {"ROOF_RANK_MEMORY", "5"}});
    CHECK(place_of_process().launcher == Launcher::roof);
    CHECK(place_of_process().descriptor == 5);
}

TEST_CASE("srun may start different numbers of tasks per machine")
{
    const std::map<std::string, std::string> step{{"SLURM_STEP_NUM_TASKS", "7"},
                                                  {"SLURM_STEP_NUM_NODES", "4"},
                                                  {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"},
                                                  {"PMI_RANK", "0"}};
    const auto here = [&](const std::string& rank, const std::string& machine) {
        std::map<std::string, std::string> all = step;
        all["SLURM_PROCID"] = rank;
        all["SLURM_NODEID"] = machine;
        const Environment srun(all);
        return place_of_process().ranks_here;
    };
    CHECK(here("0", "0") == 2);
    CHECK(here("5", "2") == 2);
    CHECK(here("6", "3") == 1);
    CHECK(tasks_of_machine("4", 0) == 4);
    CHECK_THROWS_AS(tasks_of_machine("4", 1), InputError);
    CHECK_THROWS_AS(tasks_of_machine("2(x3", 0), InputError);
    CHECK_THROWS_AS(tasks_of_machine("two", 0), InputError);
}

TEST_CASE("without a list of tasks, or its own number, a machine has its share of them, rounded up")
{
    std::map<std::string, std::string> step{
        {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "3"}, {"SLURM_STEP_NUM_NODES", "2"}, {"PMIX_RANK", "0"}};
    for (const std::string list : {"", "1,2"}) {
        if (!list.empty()) step["SLURM_STEP_TASKS_PER_NODE"] = list;
        const Environment srun(step);
        CHECK(place_of_process().ranks_here == 2);
    }
}

TEST_CASE("ranks on several machines get a remark that counts are those of all")
{
    CHECK(remark_on_machines({.launcher = Launcher::mpi, .rank = 0, .ranks = 2, .ranks_here = 2}).empty());
    CHECK_THAT(remark_on_machines({.launcher = Launcher::mpi, .rank = 0, .ranks = 6, .ranks_here = 2}),
               Catch::Contains("6 ranks on several machines, 2 on this one"));
}

TEST_CASE("a Slurm batch script that calls roof without srun is not a rank")
{
    const Environment batch({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}});
    CHECK(place_of_process().launcher == Launcher::none);
}

TEST_CASE("a variable of MPI and a Slurm rank without the number of ranks make no rank")
{
    const Environment srun({{"SLURM_PROCID", "0"}, {"PMI_RANK", "0"}});
    CHECK(place_of_process().launcher == Launcher::none);
}

TEST_CASE("a contradictory environment is refused")
{
    {
        const Environment beyond({{"ROOF_RANK", "2"}, {"ROOF_RANKS", "2"}});
        CHECK_THROWS_WITH(place_of_process(), "the environment says this is rank 2 of 2");
    }
    {
        const Environment more(
            {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}});
        CHECK_THROWS_WITH(place_of_process(), Catch::Contains("4 of 2 ranks"));
    }
    for (const auto& [name, value] : {std::pair{"OMPI_COMM_WORLD_RANK", "-1"},
                                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "0"},
                                      {"OMPI_COMM_WORLD_LOCAL_RANK", "-1"}}) {
        std::map<std::string, std::string> all{{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}};
        all[name] = value;
        const Environment below(all);
        CHECK_THROWS_WITH(place_of_process(), Catch::StartsWith("the environment says "));
    }
    const Environment word(std::map<std::string, std::string>{{"OMPI_COMM_WORLD_SIZE", "two"}});
    CHECK_THROWS_AS(place_of_process(), InputError);
}

TEST_CASE("a place that MPI does not know is refused")
{
    const Place second{.launcher = Launcher::mpi, .rank = 1, .ranks = 2};
    CHECK_NOTHROW(check_place(second, 1, 2));
    CHECK_THROWS_AS(check_place(second, 0, 2), InputError);
    CHECK_THROWS_AS(check_place(second, 1, 3), InputError);
    CHECK_THROWS_WITH(check_place(second, 0, 1), Catch::Contains("rank 1 of 2") && Catch::Contains("rank 0 of 1") &&
                                                     Catch::Contains("of another MPI"));
}

TEST_CASE("MPI fixes the number of ranks, and the reason for a refusal gives the remedy")
{
    const Place two{.launcher = Launcher::mpi, .rank = 0, .ranks = 2, .ranks_here = 2};
    CHECK_FALSE(unsupported_ranks(2, two));
    REQUIRE(unsupported_ranks(4, two));
    CHECK_THAT(*unsupported_ranks(4, two), Catch::Contains("mpirun -n 4"));
    CHECK_FALSE(unsupported_ranks(4, {}));
    CHECK_FALSE(unsupported_ranks(SharedMemory::most_ranks, {}));
    CHECK(unsupported_ranks(SharedMemory::most_ranks + 1, {}));
}

TEST_CASE("processors are divided among ranks in contiguous ranges, and left alone if there are too few")
{
    const std::vector<int> five{0, 2, 4, 6, 8};
    CHECK(cpus_of(0, 2, five) == std::vector<int>{0, 2});
    CHECK(cpus_of(1, 2, five) == std::vector<int>{4, 6, 8});
    CHECK(cpus_of(0, 6, five).empty());
    CHECK(cpus_of(4, 5, five) == std::vector<int>{8});
    CHECK(cores_first({0, 1, 2, 3, 6}, [](int cpu) { return cpu / 2; }) == std::vector<int>{0, 2, 6, 1, 3});
    CHECK(threads_of_rank(5, 2) == 2);
    CHECK(threads_of_rank(2, 4) == 1);
}
