#include "workloads/parallel/world.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/process.hpp"
#include "workloads/parallel/place.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

namespace roof::parallel {

namespace {

/// Its standard output goes to /dev/null, since that is rank 0's alone, and the memory stays open.
pid_t spawn(const std::filesystem::path& program, int rank, int ranks, int descriptor)
{
    posix_spawn_file_actions_t files{};
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, descriptor, descriptor);
    pid_t id{};
    const int status = start_process(id, {program.string(), "rank"},
                                     {{rank_variable, std::to_string(rank)},
                                      {ranks_variable, std::to_string(ranks)},
                                      {memory_variable, std::to_string(descriptor)}},
                                     &files, nullptr);
    posix_spawn_file_actions_destroy(&files);
    if (status != 0)
        throw Error("rank " + std::to_string(rank) + " cannot be started: " + program.string() + ": " +
                    std::strerror(status));
    return id;
}

std::string how_it_ended(int status)
{
    if (WIFSIGNALED(status))
        return "was ended by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
    return "ended with status " + std::to_string(WEXITSTATUS(status));
}

/// An entry of the MPI transport. It is never closed: communicators keep functions that lie in it.
template <class Function>
Function* mpi_entry(const char* name)
{
    const auto file = part_file("roof_mpi.so");
    void* const handle =
        dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);  // Open MPI opens parts of its own that need its names
    void* const found = handle == nullptr ? nullptr : dlsym(handle, name);
    if (found != nullptr) return reinterpret_cast<Function*>(found);
    const char* const reason = dlerror();
    throw Error("this process was started as a rank of MPI, but roof's MPI part cannot be opened: " +
                std::string(reason == nullptr ? "no reason given" : reason));
}

}  // namespace

Processes::Processes(std::shared_ptr<SharedMemory> memory, const std::filesystem::path& program)
    : memory_(std::move(memory))
{
    const int ranks = memory_->ranks();
    try {
        for (int rank = 1; rank < ranks; ++rank)
            running_.push_back({spawn(program, rank, ranks, memory_->descriptor()), rank});
    } catch (const Error& error) {
        memory_->fail(error.what());
        throw;
    }
}

Processes::~Processes()
{
    constexpr int max_rounds = 500;  // times 10 ms
    for (int round = 0; round < max_rounds; ++round) {
        std::erase_if(running_, [](const Process& one) { return waitpid(one.id, nullptr, WNOHANG) == one.id; });
        if (running_.empty()) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    for (const Process& process : running_) {
        kill(process.id, SIGKILL);
        waitpid(process.id, nullptr, 0);
    }
}

void Processes::check()
{
    const std::lock_guard lock(mutex_);
    std::erase_if(running_, [this](const Process& process) {
        int status = 0;
        if (waitpid(process.id, &status, WNOHANG) != process.id) return false;
        memory_->fail("rank " + std::to_string(process.rank) + " " + how_it_ended(status));
        return true;
    });
}

std::shared_ptr<Communicator> mpi_communicator()
{
    std::shared_ptr<Communicator> communicator;
    mpi_entry<void(std::shared_ptr<Communicator>&)>("roof_mpi_join")(communicator);
    return communicator;
}

void finish_mpi()
{
    mpi_entry<void()>("roof_mpi_finish")();
}

Followers::Followers(std::shared_ptr<Communicator> control, std::shared_ptr<Processes> processes,
                     const Assignment& assignment)
    : control_(std::move(control)), processes_(std::move(processes))
{
    send(*control_, {CommandKind::make, assignment});
}

Followers::~Followers()
{
    if (!release() || processes_ == nullptr) return;
    try {
        send(*control_, {CommandKind::leave, {}});
    } catch (const std::exception&) {  // NOLINT: a rank has ended, which the row reports already
    }
}

bool Followers::release() noexcept
{
    if (is_released_) return true;
    try {
        send(*control_, {CommandKind::release, {}});
        is_released_ = true;
    } catch (const std::exception&) {  // NOLINT: a rank has ended, which the row reports already
    }
    return is_released_;
}

void World::tell(CommandKind kind, Recording recording) const
{
    if (followers != nullptr) followers->tell(kind, recording);
}

std::vector<std::string> World::remarks_of_ranks(const std::string& own) const
{
    constexpr std::size_t most = 4;
    tell(CommandKind::report);
    std::vector<std::string> all;
    std::size_t others = 0;
    for (int rank = 0; rank < communicator->size; ++rank) {
        const std::string remark = text_of_first(*communicator, own, rank);
        if (remark.empty()) continue;
        if (all.size() < most)
            all.push_back("rank " + std::to_string(rank) + ": " + remark);
        else
            ++others;
    }
    if (others > 0) all.push_back("likewise on " + std::to_string(others) + " other ranks");
    return all;
}

std::string World::describe(std::size_t buckets, const std::string& transport) const
{
    const auto counted = [](std::size_t count, const std::string& noun) {
        return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
    };
    return counted(static_cast<std::size_t>(communicator->size), "rank") + " by " +
           (transport.empty() ? communicator->transport : transport) + ", " + counted(buckets, "bucket");
}

std::vector<std::string> World::remarks(const std::string& takes_turns) const
{
    std::vector<std::string> all;
    for (const std::string& remark : {takes_turns, remark_on_machines(place)}) {
        if (!remark.empty()) all.push_back(remark);
    }
    return all;
}

std::optional<std::string> unsupported_ranks(int ranks, const Place& place)
{
    if (place.launcher == Launcher::mpi && ranks != place.ranks) {
        return "MPI started " + std::to_string(place.ranks) +
               " rank(s): start as many as the row asks for, mpirun -n " + std::to_string(ranks);
    }
    if (place.launcher != Launcher::mpi && ranks > SharedMemory::most_ranks)
        return "on one machine roof starts at most " + std::to_string(SharedMemory::most_ranks) + " ranks";
    return std::nullopt;
}

std::shared_ptr<Communicator> communicator_of(const Place& place)
{
    if (place.launcher == Launcher::mpi) return mpi_communicator();
    const auto memory = SharedMemory::open(place.descriptor);
    if (memory->owner() != getppid() || memory->ranks() != place.ranks)
        throw Error(std::string(rank_variable) + " is set, but the process that set it does not wait for this rank");
    return shared_memory_communicator(memory, place.rank, {.limit = wait_limit(place.rank)});
}

World open_world(const Assignment& assignment, int ranks)
{
    const Place place = place_of_process();
    if (const auto reason = unsupported_ranks(ranks, place)) throw Unsupported(*reason);
    if (place.launcher != Launcher::none) {
        const auto communicator = communicator_of(place);
        const auto followers =
            place.rank > 0 ? nullptr : std::make_shared<Followers>(communicator, nullptr, assignment);
        return {communicator, followers, place};
    }
    const auto memory = SharedMemory::create(ranks);
    const auto processes = std::make_shared<Processes>(memory, program_path());
    const auto communicator =
        shared_memory_communicator(memory, 0, {.while_waiting = [processes] { processes->check(); }});
    return {communicator,
            std::make_shared<Followers>(communicator, processes, assignment),
            {.launcher = Launcher::roof, .rank = 0, .ranks = ranks, .ranks_here = ranks}};
}

// The axes of data-parallel training, and their values in a point.

namespace {

using Words = std::vector<std::string>;

Axis optional_words(const std::string& name, const std::string& meaning, const Words& legal)
{
    return {.name = name, .meaning = meaning, .defaults = {legal.front()}, .allowed = legal, .optional = true};
}

Axis optional_number(const std::string& name, const std::string& meaning, const std::string& usual, long long most)
{
    Axis axis = number_axis(name, meaning, {usual}, 1, most);
    axis.optional = true;
    return axis;
}

bool is_strong(const Point& point)
{
    return point.text_or("scaling", "weak") == "strong";
}

}  // namespace

std::vector<Axis> axes()
{
    const Place place = place_of_process();
    Axis ranks = optional_number("ranks", "processes that train together, each on its own images",
                                 std::to_string(place.ranks), 4096);
    ranks.optional = place.ranks == 1;
    return {ranks,
            optional_words("scaling", "weak: `batch` is that of one rank; strong: of all together", {"weak", "strong"}),
            optional_words("communication",
                           "of gradients: overlapped with the backward pass; serial: after it; broadcast: reduced to "
                           "rank 0, which sends its parameters each step",
                           names_in(names_of(Mode{}).rows)),
            optional_number("bucket_mb", "megabytes of gradients in a message, at least", "25", 100'000),
            optional_words("batch_norm", "statistics of each rank's own batch, or of the batches of all",
                           {"local", "synchronised"})};
}

Options options_of(const Point& point)
{
    constexpr std::size_t megabyte = 1'000'000;
    Options options;
    if (point.has("ranks")) options.ranks = static_cast<int>(point.integer("ranks"));
    if (point.has("batch")) options.batch = point.integer("batch") / (is_strong(point) ? options.ranks : 1);
    options.mode = parse_enum<Mode>(point.text_or("communication", "overlapped"));
    if (point.has("bucket_mb")) options.bucket_bytes = static_cast<std::size_t>(point.integer("bucket_mb")) * megabyte;
    options.synchronised_batch_norm = point.text_or("batch_norm", "local") == "synchronised";
    return options;
}

std::optional<std::string> unsupported_reason(const Point& point)
{
    const Options options = options_of(point);
    if (is_strong(point) && options.batch * options.ranks != point.integer("batch"))
        return "a batch of " + point.text("batch") + " cannot be shared out evenly among " +
               std::to_string(options.ranks) + " ranks";
    return unsupported_ranks(options.ranks, place_of_process());
}

}  // namespace roof::parallel
