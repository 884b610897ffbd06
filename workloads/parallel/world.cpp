#include "workloads/parallel/world.hpp"

#include "ert/base/error.hpp"
#include "workloads/parallel/mpi_object.hpp"

#include <utility>

namespace roof::parallel {

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

void World::launch() const
{
    if (followers != nullptr) followers->launch();
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
    return shared_memory_communicator(SharedMemory::open(place.descriptor), place.rank);
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
