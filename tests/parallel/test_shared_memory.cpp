#include "ert/base/error.hpp"
#include "tests/parallel/threads.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

using namespace roof;
using namespace roof::parallel;

namespace {

using Complaints = std::vector<std::string>;

}  // namespace

TEST_CASE("a mean of ranges of any length is over all ranks and changes nothing outside them")
{
    for (const int ranks : {1, 2, 3, 4}) {
        const auto complaints = on_ranks(ranks, [ranks](Communicator& communicator) {
            const std::span<float> block = communicator.block(20'000);
            if (block.front() != 0 || block.back() != 0) throw Error("not zero at first");
            for (const std::size_t count : {1, 7, 9'999}) {
                std::iota(block.begin(), block.end(), static_cast<float>(1000 * communicator.rank));
                communicator.mean(block.subspan(3, count), Reach::all);
                const float shift = 1000 * (static_cast<float>(ranks) - 1) / 2;
                for (std::size_t i = 0; i < count; ++i) {
                    if (block[3 + i] != Approx(3 + static_cast<double>(i) + shift)) throw Error("a wrong mean");
                }
                const auto own = static_cast<float>(1000 * communicator.rank);
                if (block[2] != own + 2 || block[3 + count] != own + static_cast<float>(3 + count))
                    throw Error("a neighbour was touched");
                double nothing = 0;
                communicator.sum({&nothing, 1});  // no rank continues before all have checked
            }
        });
        CHECK(complaints == Complaints(static_cast<std::size_t>(ranks)));
    }
}

TEST_CASE("a mean for the first rank changes no other rank's values")
{
    const auto complaints = on_ranks(3, [](Communicator& communicator) {
        const std::span<float> block = communicator.block(5);
        const float own = std::array{9.0F, 1.0F, 2.0F}[static_cast<std::size_t>(communicator.rank)];
        std::ranges::fill(block, own);
        communicator.mean(block, Reach::first);
        const float due = communicator.rank == 0 ? 4 : own;
        if (std::ranges::count(block, due) != 5) throw Error("other values");
    });
    CHECK(complaints == Complaints(3));
}

TEST_CASE("one thread may compute a mean while another sums")
{
    const auto complaints = on_ranks(2, [](Communicator& communicator) {
        const std::span<float> block = communicator.block(1 << 20);
        std::fill(block.begin(), block.end(), static_cast<float>(communicator.rank));
        std::thread background([&] { communicator.mean(block, Reach::all); });
        std::vector<double> values(5'000, communicator.rank + 1);
        for (int round = 0; round < 20; ++round) communicator.sum(values);
        background.join();
        if (values.back() != Approx(3 * std::pow(2.0, 19))) throw Error("a wrong sum");
        if (block.back() != 0.5F) throw Error("a wrong mean");
    });
    CHECK(complaints == Complaints(2));
}

TEST_CASE("any rank may broadcast more bytes than the window holds")
{
    const auto complaints = on_ranks(3, [](Communicator& communicator) {
        std::vector<int> values(700'000, communicator.rank);
        communicator.broadcast(std::as_writable_bytes(std::span(values)), 2);
        if (values.front() != 2 || values.back() != 2) throw Error("not those of rank 2");
    });
    CHECK(complaints == Complaints(3));
}

TEST_CASE("a part of all ranks reduces like them, and other parts are refused")
{
    std::array<bool, 3> whole{};
    const auto complaints = on_ranks(3, [&](Communicator& communicator) {
        std::ranges::fill(communicator.block(9), 5.0F);
        const std::unique_ptr<Communicator> all = communicator.part(true);
        const std::span<float> block = all->block(9);
        if (block.front() != 0) throw Error("not zero at first");
        std::fill(block.begin(), block.end(), static_cast<float>(all->rank));
        all->mean(block, Reach::all);
        if (block.front() != 1 || block.back() != 1) throw Error("a wrong mean");
        whole[static_cast<std::size_t>(communicator.rank)] = true;
        communicator.part(communicator.rank < 2);
    });
    CHECK(complaints == Complaints(3, "ranks by shared memory are not divided"));
    CHECK(whole == std::array{true, true, true});
}

TEST_CASE("a rank that fails ends the wait of the others with its message")
{
    const auto complaints = on_ranks(3, [](Communicator& communicator) {
        if (communicator.rank == 1) return communicator.fail("rank 1: it broke");
        double value = 0;
        communicator.sum({&value, 1});
    });
    CHECK(complaints == Complaints{"rank 1: it broke", "", "rank 1: it broke"});
}

TEST_CASE("the wait for a missing rank is limited")
{
    const auto complaints = on_ranks(2,
                                     [](Communicator& communicator) {
                                         double value = 0;
                                         if (communicator.rank == 0) communicator.sum({&value, 1});
                                     },
                                     {.limit = Seconds{0.05}});
    CHECK_THAT(complaints[0], Catch::StartsWith("rank 0 waited"));
}

TEST_CASE("a rank that waits outside the hosts' calls detects that another failed")
{
    const auto complaints = on_ranks(2, [&](Communicator& communicator) {
        communicator.watch({}, {});
        double one = 1;
        communicator.sum({&one, 1});
        if (communicator.rank == 1) return communicator.fail("rank 1: enough");
        while (true) communicator.watch({}, {});
    });
    CHECK(complaints == std::vector<std::string>{"rank 1: enough", ""});
}

TEST_CASE("a rank that waits outside the hosts' calls is told for whom, once the limit is over")
{
    const auto complaints = on_ranks(3,
                                     [](Communicator& communicator) {
                                         const auto begin = std::chrono::steady_clock::now();
                                         while (communicator.rank != 1) {
                                             const std::chrono::duration<double> waited =
                                                 std::chrono::steady_clock::now() - begin;
                                             communicator.watch(Seconds{waited.count()}, "the end");
                                         }
                                     },
                                     {.limit = Seconds{1}});
    CHECK(complaints[0] == "rank 0 waited 1 s for rank 1: the end");
    CHECK(complaints[1].empty());
    CHECK(complaints[2] == "rank 2 waited 1 s for rank 1: the end");
}

TEST_CASE("a descriptor of anything but memory of ranks is refused at once")
{
    const int descriptor = ::open("/proc/self/exe", O_RDONLY);
    REQUIRE(descriptor >= 0);
    CHECK_THROWS_WITH(SharedMemory::open(descriptor), Catch::Contains("is no memory shared by ranks"));
    ::close(descriptor);
    CHECK_THROWS_AS(SharedMemory::open(descriptor), Error);
    const int small = ::memfd_create("small", 0);
    CHECK_THROWS_WITH(SharedMemory::open(small), Catch::Contains("is no memory shared by ranks"));
    ::close(small);
}

TEST_CASE("memory shared by ranks leaves neither a mapping nor a descriptor behind")
{
    const auto mapped = [] {
        std::ifstream maps("/proc/self/maps");
        return std::string(std::istreambuf_iterator<char>(maps), {}).find("memfd:roof-ranks") != std::string::npos;
    };
    const auto opened = [] {
        int count = 0;
        for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
        return count;
    };
    const int before = opened();
    CHECK_THROWS_AS(SharedMemory::open(STDERR_FILENO), Error);
    {
        const auto memory = SharedMemory::create(1);
        const auto ranks = shared_memory_communicator(memory, 0, {});
        CHECK(ranks->block(5000).size() == 5000);
        CHECK(mapped());
    }
    CHECK_FALSE(mapped());
    CHECK(opened() == before);
}
