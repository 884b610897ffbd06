#include "tests/emulated_gpu/nccl/meeting.hpp"

#include "tests/emulated_gpu/nccl/counts.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace roof::emulated {

namespace {

int open_shared(const std::string& name, std::size_t bytes)
{
    const int file = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) throw std::runtime_error("no shared memory");
    return file;
}

std::string file_of(const std::string& name, int rank)
{
    return name + "." + std::to_string(rank);
}

NcclCounts counts;

}  // namespace

std::string Meeting::make()
{
    static std::atomic<int> number = 0;
    return "/roof-emulated-nccl-" + std::to_string(getpid()) + "-" + std::to_string(number++);
}

Meeting::Meeting(const std::string& name, int ranks, int rank, int device, const std::string& host)
    : name_(name), ranks_(ranks), rank_(rank)
{
    if (ranks < 1 || ranks > most_ranks || rank < 0 || rank >= ranks) throw std::invalid_argument("no such rank");
    constexpr std::size_t bytes = most_ranks * sizeof(Place);
    const int page = open_shared(name_, bytes);
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
    close(page);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    places_ = static_cast<Place*>(memory);  // of zeros, which are the values of a place without a rank
    if (mine().is_here != 0) {
        munmap(memory, bytes);
        throw std::invalid_argument("two ranks of one number");
    }
    mine().device = device;
    mine().process = getpid();
    std::snprintf(mine().host, sizeof(mine().host), "%s", host.c_str());
    close(open_shared(file_of(name_, rank_), 0));
    mine().is_here = 1;
    ++counts.alive;
}

Meeting::~Meeting()
{
    --counts.alive;
    remove_names();
    for (const int file : files_) close(file);
    munmap(places_, most_ranks * sizeof(Place));
}

bool Meeting::is_complete() const
{
    return std::all_of(places_, places_ + ranks_, [](const Place& place) { return place.is_here != 0; });
}

bool Meeting::shares_device() const
{
    for (int a = 0; a < ranks_; ++a) {
        for (int b = 0; b < a; ++b) {
            if (places_[a].device == places_[b].device && std::strcmp(places_[a].host, places_[b].host) == 0)
                return true;
        }
    }
    return false;
}

void Meeting::begin()
{
    for (int rank = 0; rank < ranks_; ++rank) files_.push_back(shm_open(file_of(name_, rank).c_str(), O_RDWR, 0600));
    if (std::count(files_.begin(), files_.end(), -1) != 0) throw std::runtime_error("no file of another rank");
    // The last one that has opened them takes the names away.
    mine().is_here = 2;
    if (!std::all_of(places_, places_ + ranks_, [](const Place& place) { return place.is_here == 2; })) return;
    remove_names();
}

void Meeting::remove_names() const
{
    shm_unlink(name_.c_str());
    for (int rank = 0; rank < ranks_; ++rank) shm_unlink(file_of(name_, rank).c_str());
}

bool Meeting::may_say() const
{
    return std::all_of(places_, places_ + ranks_, [this](const Place& place) { return place.read >= mine().said; });
}

void Meeting::say(const Collective& what, const std::vector<std::byte>& bytes)
{
    const int file = files_[static_cast<std::size_t>(rank_)];
    if (pwrite(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        throw std::runtime_error("no room in shared memory");
    mine().last = what;
    mine().bytes = bytes.size();
    ++mine().said;
    ++counts.ran;
}

bool Meeting::has_heard() const
{
    return std::all_of(places_, places_ + ranks_, [this](const Place& place) { return place.said >= mine().said; });
}

Collective Meeting::said_by(int rank) const
{
    return places_[rank].last;
}

std::vector<std::byte> Meeting::bytes_of(int rank) const
{
    std::vector<std::byte> bytes(places_[rank].bytes);
    if (pread(files_[static_cast<std::size_t>(rank)], bytes.data(), bytes.size(), 0) !=
        static_cast<ssize_t>(bytes.size()))
        throw std::runtime_error("a file that is too short");
    return bytes;
}

void Meeting::has_read()
{
    ++mine().read;
}

void Meeting::leave(bool is_abort)
{
    mine().has_left = is_abort ? 2 : 1;
    if (is_abort) ++counts.aborted;
}

bool Meeting::has_abort() const
{
    return std::any_of(places_, places_ + ranks_, [](const Place& place) { return place.has_left == 2; });
}

bool Meeting::is_alone() const
{
    return std::all_of(places_, places_ + ranks_,
                       [this](const Place& place) { return place.process == mine().process || place.has_left != 0; });
}

}  // namespace roof::emulated

/// None of NCCL's: for tests.
extern "C" int roofEmulatedCounts(roof::emulated::NcclCounts* to)
{
    *to = roof::emulated::counts;
    return 0;
}
