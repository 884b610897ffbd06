// Prototypes and constants are those of nccl.h, unchanged since version 2.14. Machines with the library may lack the
// header.
#include "ert/gpu/nccl.hpp"

#include "ert/base/error.hpp"
#include "ert/method/bench/clock.hpp"

#include <chrono>
#include <exception>
#include <thread>

namespace roof::gpu {

namespace {

constexpr int in_progress = 7;

/// As version 2.14 had it; later versions read its size and version, and take their defaults for the rest.
struct Config {
    std::size_t size = sizeof(Config);
    unsigned magic = 0xcafebeef;
    unsigned version = 21400;
    int blocking{};
};

}  // namespace

std::shared_ptr<const Nccl> Nccl::open(const std::vector<std::string>& names)
{
    const std::optional<Library> library = Library::open(names);
    if (!library) return nullptr;
    return std::shared_ptr<const Nccl>(new Nccl(*library));
}

std::string Nccl::version() const
{
    int version = 0;
    call("ncclGetVersion", &version);
    return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
}

void Nccl::grouped(const std::function<void()>& calls) const
{
    call("ncclGroupStart");
    std::exception_ptr failure;
    try {
        calls();
    } catch (const Error&) {
        failure = std::current_exception();
    }
    const int ended = library_.function<int()>("ncclGroupEnd")();
    if (failure != nullptr) std::rethrow_exception(failure);
    check(ended, "ncclGroupEnd");
}

void Nccl::check(int status, const std::string& what) const
{
    if (status == 0 || status == in_progress) return;
    const char* const words = library_.function<const char*(int)>("ncclGetErrorString")(status);
    throw Error(what + " ended with NCCL status " + std::to_string(status) + ": " + words);
}

void wait_while(const std::function<bool()>& goes_on, const WhileWaiting& while_waiting)
{
    using namespace std::chrono_literals;
    constexpr Seconds short_wait{1e-3};
    const Clock clock = steady_clock();
    for (const Seconds begin = clock(); goes_on();) {
        const Seconds waited = clock() - begin;
        while_waiting(waited);
        if (waited < short_wait)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(50us);
    }
}

NcclRank::NcclRank(std::shared_ptr<const Nccl> library, int ranks, UniqueId id, int rank, bool waits)
    : library_(std::move(library))
{
    Config config{.blocking = static_cast<int>(waits)};
    library_->call("ncclCommInitRankConfig", &comm_, ranks, id, rank, &config);
}

NcclRank::~NcclRank()
{
    try {
        abort();
    } catch (const Error&) {  // NOLINT: the rank has failed, which is known already
    }
}

int NcclRank::state() const
{
    int state = 0;
    library_->call("ncclCommGetAsyncError", comm_, &state);
    return state;
}

bool NcclRank::is_in_progress() const
{
    return state() == in_progress;
}

void NcclRank::await(const WhileWaiting& while_waiting) const
{
    int now = in_progress;
    wait_while([&] { return (now = state()) == in_progress; }, while_waiting);
    library_->check(now, "another rank, or the way to it, failed: NCCL");
}

void NcclRank::leave(const WhileWaiting& while_waiting)
{
    library_->call("ncclCommFinalize", comm_);
    await(while_waiting);
    library_->call("ncclCommDestroy", std::exchange(comm_, nullptr));
}

void NcclRank::abort()
{
    if (comm_ != nullptr) library_->call("ncclCommAbort", std::exchange(comm_, nullptr));
}

}  // namespace roof::gpu
