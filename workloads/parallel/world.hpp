// The ranks of one subject: started by roof for it, or by mpirun or srun beside this process.
#pragma once

#include "ert/method/bench/bench.hpp"
#include "workloads/parallel/commands.hpp"
#include "workloads/parallel/exchange.hpp"
#include "workloads/parallel/place.hpp"
#include "workloads/parallel/shared_memory.hpp"

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace roof::parallel {

// The processes of the ranks that roof starts itself, on this machine: this program again, once per rank but the first.

class Processes {
  public:
    /// Starts ranks 1 and up: `program rank`, with rank, number of ranks and memory in the environment. Throws Error.
    Processes(std::shared_ptr<SharedMemory> memory, const std::filesystem::path& program);
    /// Waits a few seconds for running processes, then kills the rest.
    ~Processes();
    Processes(const Processes&) = delete;
    Processes& operator=(const Processes&) = delete;

    /// If a rank has ended, reports to all ranks which and how, unless it reported a failure itself. Callable from
    /// any thread.
    void check();

  private:
    struct Process {
        pid_t id = 0;
        int rank = 0;
    };

    std::shared_ptr<SharedMemory> memory_;
    std::mutex mutex_;
    std::vector<Process> running_;
};

/// Rank 0's control of the other ranks: they make their part when this is made, and release it when this is destroyed.
class Followers {
  public:
    /// `processes`: null if roof did not start them.
    Followers(std::shared_ptr<Communicator> control, std::shared_ptr<Processes> processes,
              const Assignment& assignment);
    ~Followers();
    Followers(const Followers&) = delete;
    Followers& operator=(const Followers&) = delete;

    /// launch, check or report: called before rank 0 does it with its own part.
    void tell(CommandKind kind, Recording recording = Recording::none) const { send(*control_, {kind, {}, recording}); }
    /// The others release their parts now instead of when this is destroyed: for parts whose destructors wait for
    /// each other. Returns whether the command was sent; nothing may be launched afterwards.
    bool release() noexcept;

  private:
    bool is_released_ = false;
    std::shared_ptr<Communicator> control_;
    std::shared_ptr<Processes> processes_;
};

struct World {
    std::shared_ptr<Communicator> communicator;
    std::shared_ptr<Followers> followers;  ///< null on all ranks but the first; goes before the communicator
    Place place;

    /// On rank 0: makes the other ranks launch, check or report.
    void tell(CommandKind kind, Recording recording = Recording::none) const;
    /// "rank 1: the clock was …" of each rank whose device says something, of many ranks the first four. Collective.
    std::vector<std::string> remarks_of_ranks(const std::string& own) const;
    /// "2 ranks by shared memory, 3 buckets"; `transport` replaces the communicator's.
    std::string describe(std::size_t buckets, const std::string& transport = {}) const;
    /// Reasons why a time may not be representative; `takes_turns` is the engine's own, or empty.
    std::vector<std::string> remarks(const std::string& takes_turns) const;

    /// What `make` returns on this rank, once all ranks have made theirs. Collective; throws as agree().
    template <class Make>
    auto made_by_all(Make make) const -> decltype(make())
    {
        decltype(make()) made{};
        std::exception_ptr failure;
        try {
            made = make();
        } catch (...) {
            failure = std::current_exception();
        }
        agree(*communicator, failure);
        return made;
    }

    /// For Subject::check() of each rank: `gives` returns a line with the checksum of each parameter, which must be
    /// those of rank 0. Collective; throws as agree().
    template <class Gives>
    void compare_parameters(Gives gives) const
    {
        tell(CommandKind::check);
        require_same(*communicator, made_by_all(gives), "have different parameters after the same steps");
    }

    /// As made_by_all(), but rank 0 comes first. The others then `follow` the text that it `gives`, such as what it
    /// chose, and make theirs.
    template <class Make, class Gives, class Follow>
    auto made_by_first(Make make, Gives gives, Follow follow) const -> decltype(make())
    {
        const bool is_first = communicator->rank == 0;
        auto made = made_by_all([&] { return is_first ? make() : decltype(make()){}; });
        const std::string given = text_of_first(*communicator, is_first ? gives() : std::string());
        return made_by_all([&] {
            if (is_first) return std::move(made);
            follow(given);
            return make();
        });
    }
};

/// The reason why this machine cannot run that many ranks, or none.
std::optional<std::string> unsupported_ranks(int ranks, const Place& place);

/// Rank 0 commands the others to make this point's subject; the others join. All of them must call agree() next.
/// Throws Unsupported, Error.
World open_world(const Assignment& assignment, int ranks);

/// The communicator of a process that roof or MPI started as a rank.
std::shared_ptr<Communicator> communicator_of(const Place& place);

/// By MPI, over all ranks there are. Joins them the first time it is called. The transport is a shared object beside
/// the program (workloads/mpi), opened only where mpirun or srun started this process, so that other runs need no MPI
/// library. Throws Error where the object, or its library, is not there.
std::shared_ptr<Communicator> mpi_communicator();
/// Ends the use of MPI in this process. Collective.
void finish_mpi();

// The axes of data-parallel training, and their values in a point.

struct Options {
    int ranks = 1;
    long long batch = 1;  ///< of one rank
    Mode mode = Mode::overlapped;
    std::size_t bucket_bytes = 25'000'000;
    bool synchronised_batch_norm = false;
};

/// `ranks`, `scaling`, `communication`, `bucket_mb`, `batch_norm`: all optional, but `ranks` where MPI started this
/// process among others: then as many are usual.
std::vector<Axis> axes();

/// The values in the point, or their defaults. Throws InputError.
Options options_of(const Point& point);

/// The reason why this machine cannot run the point's ranks, or none.
std::optional<std::string> unsupported_reason(const Point& point);

}  // namespace roof::parallel
