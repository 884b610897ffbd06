// Communicators of NCCL over the two GPUs of a process. Run with ROOF_EMULATED_GPUS=2.
#include "ert/base/error.hpp"
#include "ert/base/wait_limit.hpp"
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/communicators.hpp"
#include "ert/gpu/device.hpp"
#include "ert/gpu/stream.hpp"
#include "tests/emulated_gpu/nccl/counts.hpp"
#include "tests/emulated_gpu/runtime/machine.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstdlib>

using namespace roof;
using namespace roof::gpu;

namespace {

constexpr std::size_t count = 5;

/// On the current GPU.
struct Memory {
    Memory() : send(count, "a message"), receive(count, "a sum") { send.write(std::vector<float>(count, 3)); }
    Communicator::Rank rank() const { return {send.data(), receive.data(), stream.get()}; }

    Buffer<float> send, receive;
    Stream stream;
    Event done{false};
};

}  // namespace

TEST_CASE("a thread that uses one GPU makes no context on another", "[.two_gpus]")
{
    cudaSetDevice(0);
    emulated::machine().contexts.clear();
    {
        const CurrentDevice current(DeviceId{1});
        const CurrentDevice again(DeviceId{1});
    }
    CHECK(emulated::machine().contexts == std::set<int>{1});
    const CurrentDevice first(DeviceId{0});
    {
        const CurrentDevice second(DeviceId{1});
    }
    int device = -1;
    cudaGetDevice(&device);
    CHECK(device == 0);
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a communicator sums, is made once for all rows, and anew after a failure", "[.two_gpus]")
{
    REQUIRE(emulated::machine().count() == 2);
    const auto nccl = Nccl::open({ROOF_EMULATED_NCCL});
    REQUIRE(nccl != nullptr);
    cudaSetDevice(1);
    const Memory there;
    cudaSetDevice(0);
    const Memory here;
    const std::vector ranks{here.rank(), there.rank()};
    Communicators communicators(nccl);
    const auto first = communicators.on({0, 1});
    first->enqueue_sum(ranks, count);
    first->enqueue_sum(ranks, count);
    here.stream.synchronize();
    there.stream.synchronize();
    CHECK(here.receive.read(0, count) == std::vector<float>(count, 6));
    CHECK(there.receive.read(0, count) == std::vector<float>(count, 6));
    CHECK(communicators.on({0, 1}) == first);
    CHECK(communicators.on({0}) != first);
    float of_the_host = 0;
    CHECK_THROWS_WITH(first->enqueue_sum({here.rank(), {&of_the_host, &of_the_host, there.stream.get()}}, count),
                      Catch::Contains("ncclAllReduce ended with NCCL status 4"));
    CHECK_THROWS_WITH(first->enqueue_sum(ranks, count), Catch::Contains("ncclAllReduce ended with NCCL status 4"));
    const auto next = communicators.on({0, 1});
    CHECK(next != first);
    next->enqueue_sum(ranks, count);
    here.stream.synchronize();
    CHECK_NOTHROW(next->watch(ranks, wait_limit() - Seconds{1e-3}));
    CHECK_THROWS_WITH(next->watch(ranks, wait_limit()), Catch::Contains("NCCL waited"));
    CHECK(communicators.on({0, 1}) != next);
    CHECK_THROWS_AS(communicators.on({1, 1}), Error);
    CHECK(nccl->version() == "2.30.7");  // that of the stand-in
    CHECK_THROWS_WITH(nccl->grouped([&] { nccl->call("ncclGroupEnd"); }),
                      Catch::StartsWith("ncclGroupEnd ended with NCCL status 5"));
}

TEST_CASE("a sum of GPUs that does not begin or end is given up, with their names", "[.two_gpus]")
{
    const auto nccl = Nccl::open({ROOF_EMULATED_NCCL});
    cudaSetDevice(1);
    const Memory there;
    cudaSetDevice(0);
    const Memory here;
    const std::vector ranks{here.rank(), there.rank()};
    setenv("ROOF_RANK_TIMEOUT", "0.2", 1);
    const auto [accident, who] = GENERATE(std::array<const char*, 2>{"hang init 1", "gpu:1"},
                                          std::array<const char*, 2>{"hang call 1", "gpu:0, gpu:1"},
                                          std::array<const char*, 2>{"hang run 1", "gpu:0, gpu:1"});
    setenv("ROOF_EMULATED_NCCL_ACCIDENT", accident, 1);
    const int alive = emulated::counts_of(*nccl).alive;
    const auto sum = [&] {
        Communicator communicator(nccl, {0, 1});
        const EventTimer timer;
        const auto watch = [&](Seconds waited) { communicator.watch(ranks, waited); };
        timer.time(
            here.stream,
            [&] {
                communicator.enqueue_sum(ranks, count);
                there.done.order(there.stream.get(), here.stream.get());
            },
            watch);
    };
    CHECK_THROWS_WITH(sum(), Catch::Contains("NCCL waited 0 s for " + std::string(who)));
    CHECK(emulated::counts_of(*nccl).alive == alive);
    unsetenv("ROOF_EMULATED_NCCL_ACCIDENT");
    sum();
    unsetenv("ROOF_RANK_TIMEOUT");
}
