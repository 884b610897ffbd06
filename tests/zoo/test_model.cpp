// Simulated machines against hand arithmetic, and the limits of the draw.
#include "cpu/kernels/forms.hpp"
#include "tests/zoo/model.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace roof;
using namespace roof::zoo;

namespace {

/// 32 KiB with 200 GB/s of loads before 1 MiB, shared by two cores, before memory.
Model small_machine(const Kind& kind)
{
    Model model;
    model.kind = &kind;
    model.cores = 2;
    model.caches = {{32768, 1, Edges::ramp, false}, {1048576, limits::sharp_octaves, Edges::sharp, true}};
    model.first = {{"load", 200e9}, {"store", 100e9}, {"copy", 200e9}};
    model.alone = {{100e9, 50e9}, {20e9, 10e9}};
    model.together = {{160e9, 80e9}, {25e9, 10e9}};
    model.nontemporal = 8e9;
    model.nontemporal_together = 16e9;
    model.latency = {1e-9, 4e-9, 80e-9};
    model.hertz = 3e9;
    model.flops_per_lane = {{"fma", 4}};
    return model;
}

const Kind plain{"plain", Half::design};

double rate(const Parts& byte)
{
    return 1 / byte.sum();
}

}  // namespace

TEST_CASE("a set's time is the sum of its lines times their cost")
{
    const Model model = small_machine(plain);
    CHECK(rate(model.byte_of(16384, "load", 1)) == Approx(200e9));
    // Half of the lines at 200 and half at 100 GB/s.
    CHECK(rate(model.byte_of(32768, "load", 1)) == Approx(133.333e9).epsilon(1e-5));
    // A quarter of the octaves past the middle: three quarters beyond.
    CHECK(rate(model.byte_of(32768 * std::exp2(0.25), "load", 1)) == Approx(1 / (0.25 / 200e9 + 0.75 / 100e9)));
    CHECK(rate(model.byte_of(262144, "load", 1)) == Approx(100e9));
    CHECK(rate(model.byte_of(67108864, "load", 1)) == Approx(20e9));
    CHECK(model.chase_of(32768).sum() == Approx(2.5e-9));
    CHECK(model.chase_of(67108864).sum() == Approx(80e-9));
}

TEST_CASE(
    "a store that misses reads its line first, unless the machine does not allocate or the store bypasses the caches")
{
    Model model = small_machine(plain);
    // One byte in at 100 and one out at 50 GB/s for each byte stored.
    CHECK(model.bandwidth(1, "store", 1) == Approx(1 / (1 / 100e9 + 1 / 50e9)));
    // A copy of one byte counts two, and moves the source and the line of the destination in, and that out.
    CHECK(model.bandwidth(1, "copy", 1) == Approx(2 / (2 / 100e9 + 1 / 50e9)));
    CHECK(model.bandwidth(2, "update", 1) == Approx(2 / (1 / 20e9 + 1 / 10e9)));
    CHECK(model.bandwidth(1, "store_nt", 1) == Approx(8e9));
    CHECK(model.bandwidth(2, "copy_nt", 1) == Approx(2 / (1 / 20e9 + 1 / 8e9)));
    model.allocates_on_write = false;
    CHECK(model.bandwidth(1, "store", 1) == Approx(50e9));
    CHECK(model.bandwidth(1, "copy", 1) == Approx(2 / (1 / 100e9 + 1 / 50e9)));
}

TEST_CASE("private caches of two threads hold and give twice as much, shared ones what they give together")
{
    const Model model = small_machine(plain);
    CHECK(model.edge(0, 2) == 65536);
    CHECK(model.edge(1, 2) == 1048576);
    CHECK(model.bandwidth(0, "load", 2) == Approx(400e9));
    CHECK(model.bandwidth(1, "load", 2) == Approx(160e9));
    CHECK(model.bandwidth(2, "load", 2) == Approx(25e9));
    CHECK(2 * rate(model.byte_of(65536, "load", 2)) == Approx(1 / (0.5 / 400e9 + 0.5 / 160e9)));
}

TEST_CASE("of cores of two kinds, the slower one ends a launch in shared levels, and adds its own rate in private ones")
{
    const Kind two{.name = "two", .cores = Cores::two_kinds};
    Model model = small_machine(two);
    model.slow_core = 0.5;
    CHECK(model.bandwidth(0, "load", 2) == Approx(300e9));
    CHECK(model.bandwidth(2, "load", 2) == Approx(25e9));
    CHECK(model.arithmetic("fma", "scalar", "fp64", 2, false) == Approx(1.5 * 4 * 3e9));
}

TEST_CASE("two threads of one core do what one does")
{
    const Kind own{.name = "own", .cores = Cores::siblings};
    const Model model = small_machine(own);
    CHECK(model.bandwidth(0, "load", 4) == Approx(model.bandwidth(0, "load", 2)));
    CHECK(model.arithmetic("fma", "avx2", "fp32", 2, true) == Approx(8 * 4 * 3e9));
    CHECK(model.arithmetic("fma", "avx2", "fp32", 4, false) == Approx(2 * 8 * 4 * 3e9));
}

TEST_CASE("hidden siblings are reported as cores, and are never measured as half of them")
{
    const Kind hidden{.name = "hidden", .cores = Cores::hidden_siblings};
    const Model model = draw(hidden, 5);
    CHECK(model.threads_of_core() == 2);
    CHECK(model.machine.smt == 1);
    CHECK(model.machine.cores == 2 * model.cores);
    CHECK(model.machine.threads == 2 * model.cores);
    CHECK(model.thread_counts() == std::set<int>{1, 2 * model.cores});
    const Kind own{.name = "own", .cores = Cores::siblings};
    CHECK(draw(own, 5).machine.smt == 2);
    CHECK(draw(own, 5).thread_counts().contains(draw(own, 5).cores));
}

TEST_CASE("a set in a cache of which 40% are left is served as a set 2.5 times as large, in the last cache alone")
{
    const Kind plain{.name = "plain"};
    const Model model = small_machine(plain);
    const double edge = model.caches.back().bytes;
    CHECK(model.served(0.4 * edge, 1, 0.5, 0.4) == model.served(edge, 1));
    const double in_first = model.caches.front().bytes / 4;
    CHECK(model.served(in_first, 1, 0.5, 0.4) == model.served(in_first, 1));
}

TEST_CASE("half of the lines of a set as large as the edge are served farther away, whatever the form of the edge")
{
    for (const Edges form : {Edges::sharp, Edges::ramp, Edges::tail, Edges::lead}) {
        const Cache cache{1 << 20, 1.5, form, false};
        CAPTURE(static_cast<int>(form));
        CHECK(cache.beyond(1 << 20, 1, 0.1) == Approx(0.5));
        CHECK(cache.beyond(4 << 20, 4, 0.9) == Approx(0.5));
        CHECK(cache.beyond(cache.first_bytes(), 1, 0.5) == Approx(0).margin(1e-9));
        CHECK(cache.beyond(cache.last_bytes(), 1, 0.5) == Approx(1));
        CHECK(std::log2(cache.last_bytes() / cache.first_bytes()) == Approx(1.5));
    }
    // A tail has a cube of its octaves left: half an octave before its end 1/27 of the lines are still near.
    const Cache tail{1 << 20, 1.5, Edges::tail, false};
    CHECK(tail.beyond(tail.last_bytes() / std::sqrt(2), 1, 0.5) == Approx(1 - 1.0 / 27));
    // Pages move a sharp edge, by the whole of its octaves between the worst and the best.
    const Cache pages{1 << 20, 1.5, Edges::pages, false};
    CHECK(pages.beyond(1 << 20, 1, 0.5) == Approx(0.5));
    CHECK(pages.beyond((1 << 20) * std::exp2(-0.725), 1, 0) == Approx(0.5));
    CHECK(pages.beyond((1 << 20) * std::exp2(0.725), 1, 1) == Approx(0.5));
    CHECK(pages.beyond(1 << 20, 1, 0.4) == 1);
    CHECK(pages.beyond(1 << 20, 1, 0.6) == 0);
}

TEST_CASE("every machine lies within the limits of the draw")
{
    const auto is_within = [](double value, const Range& range) {
        return value >= range.low * (1 - 1e-9) && value <= range.high * (1 + 1e-9);
    };
    std::set<std::size_t> levels;
    std::set<int> cores;
    int shared = 0;
    for (const Kind& kind : all_kinds()) {
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            const Model model = draw(kind, seed);
            CAPTURE(kind.name, seed, model.cores, model.caches.size());
            levels.insert(model.caches.size());
            cores.insert(model.cores);
            shared += model.caches.back().is_shared ? 1 : 0;
            REQUIRE(is_within(static_cast<double>(model.caches.size()), limits::caches));
            REQUIRE(is_within(model.latency.back() * 1e9, limits::memory_latency_ns));
            REQUIRE(is_within(model.duty, limits::duty));
            for (const int threads : {1, model.cores}) {
                for (std::size_t level = 1; level < model.levels(); ++level) {
                    CAPTURE(threads, level);
                    REQUIRE(is_within(model.latency[level] / model.latency[level - 1], limits::latency_ratio));
                    if (level < model.caches.size())
                        REQUIRE(model.edge(level, threads) >= 4 * model.edge(level - 1, threads));
                    for (const ArrayOperation& stream : usual_array_operations()) {
                        if (stream.nontemporal) continue;
                        const std::string operation(stream.name);
                        CAPTURE(operation);
                        REQUIRE(is_within(
                            model.bandwidth(level - 1, operation, threads) / model.bandwidth(level, operation, threads),
                            limits::rate_ratio));
                    }
                }
            }
        }
    }
    CHECK(levels == std::set<std::size_t>{2, 3, 4});
    CHECK(cores == std::set<int>{1, 2, 4, 8});
    CHECK(shared > 100);
}

TEST_CASE("the kinds are named once, half of them judge, and interference stays within its limits")
{
    std::set<std::string_view> names;
    std::size_t judging = 0;
    for (const Kind& kind : all_kinds()) {
        CAPTURE(kind.name);
        CHECK(names.insert(kind.name).second);
        judging += kind.half == Half::judging ? 1 : 0;
        CHECK(kind.duty.high <= limits::duty.high);
        CHECK((kind.burst.high == 0 ||
               (kind.burst.low >= limits::burst_seconds.low && kind.burst.high <= limits::burst_seconds.high)));
    }
    CHECK(2 * judging + moved_kinds().size() == all_kinds().size());
    for (const Moved& moved : moved_kinds()) {
        CHECK(names.contains(moved.kind));
        CHECK(names.contains(moved.replaced_by));
    }
}
