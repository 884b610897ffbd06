#include "workloads/parallel/world.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"

#include <dlfcn.h>

#include <utility>

namespace roof::parallel {
namespace {

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

void World::tell(CommandKind kind) const
{
    if (followers != nullptr) followers->tell(kind);
}

double World::mean(double value) const
{
    communicator->sum({&value, 1});
    return value / communicator->size;
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
    return shared_memory_communicator(SharedMemory::open(place.descriptor), place.rank,
                                      {.limit = wait_limit(place.rank)});
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
    const auto processes = std::make_shared<Processes>(memory, std::filesystem::read_symlink("/proc/self/exe"));
    const auto communicator =
        shared_memory_communicator(memory, 0, {.while_waiting = [processes] { processes->check(); }});
    return {communicator,
            std::make_shared<Followers>(communicator, processes, assignment),
            {.launcher = Launcher::roof, .rank = 0, .ranks = ranks, .ranks_here = ranks}};
}

}  // namespace roof::parallel
