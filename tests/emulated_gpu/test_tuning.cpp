// How a probe sizes its launches: what it puts into the stream, call by call, by arithmetic on times that are made
// here.
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/gpu/probes/tuning.hpp"
#include "tests/emulated_gpu/runtime/machine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace roof;
using namespace roof::gpu;

namespace {

using Calls = std::vector<long long>;

void take(const MonitoredStream& stream, double seconds)
{
    emulated::Machine& machine = emulated::machine();
    machine.enqueue(machine.stream(stream.get(), 0), {.run = [seconds](double& now) { now += seconds; }});
}

/// Keeps the repetitions of each call; each takes so many seconds.
Variant variant_of(const MonitoredStream& stream, double seconds, Calls& calls, const Work& work = work_of_bytes(1))
{
    return {"", work, [&stream, &calls, seconds](long long repeats) {
                calls.push_back(repeats);
                take(stream, seconds * static_cast<double>(repeats));
            }};
}

}  // namespace

TEST_CASE("trials double until a launch takes a quarter of a millisecond, and a launch then takes its length")
{
    struct Case {
        double seconds;
        long long most;
        Calls first;
        long long repeats;
    };
    const std::vector<Case> cases{{1e-4, 1 << 20, {1, 1, 2, 4, 10, 10}, 40},
                                  {1.25e-4, 1 << 20, {1, 1, 2, 8, 8}, 32},
                                  {1e-5, 8, {1, 1, 2, 4, 8, 8, 8}, 8},
                                  {1e-5, 7, {1, 1, 2, 4, 7, 7}, 7},
                                  {1, 1 << 20, {1, 1, 1, 1}, 1},
                                  {0, 8, {1, 1, 2, 4, 8, 8}, 8}};
    for (const Case& one : cases) {
        INFO(one.seconds << " s, at most " << one.most);
        const MonitoredStream stream({0}, nullptr, false);
        Calls calls;
        Turns turns;
        CHECK(tune(stream, {variant_of(stream, one.seconds, calls)}, one.most, turns).repeats == one.repeats);
        REQUIRE(calls.size() > one.first.size());
        CHECK(std::ranges::equal(std::span(calls).first(one.first.size()), one.first));
        // The turns, and then until the clock has settled.
        if (one.seconds > 0) CHECK(calls.size() == one.first.size() + turns.at(0).size() + 2);
    }
}

TEST_CASE("the fastest variant does the most FLOPs in its time, or bytes where it has none")
{
    const auto chosen = [](const Work& first, const Work& second, double times, Turns turns = {}) {
        const MonitoredStream stream({0}, nullptr, false);
        Calls calls;
        const std::vector variants{variant_of(stream, 1e-4, calls, first),
                                   variant_of(stream, times * 1e-4, calls, second)};
        const Tuned tuned = tune(stream, variants, 1 << 20, turns);
        CHECK(tuned.repeats == (tuned.variant == 0 ? 40 : std::lround(40 / times)));
        CHECK(turns.size() == 2);
        return tuned.variant;
    };
    const Work byte = work_of_bytes(1);
    CHECK(chosen({Flops{1}, Bytes{1}, {}, Known::analytic}, {Flops{1}, Bytes{100}, {}, Known::analytic}, 2) == 0);
    CHECK(chosen(byte, byte, 0.5) == 1);
    CHECK(chosen(byte, work_of_bytes(3), 2) == 1);
    CHECK(chosen(byte, byte, 2, {{9, 9}, {1, 1}}) == 1);          // earlier turns have decided
    CHECK(chosen(byte, byte, 2, {{9, 9}, {1, 1}, {9, 9}}) == 0);  // those of other variants
}

TEST_CASE("a stream has settled when two times in a row agree, or after twenty more")
{
    const auto settled = [](const std::vector<double>& times) {
        const MonitoredStream stream({0}, nullptr, false);
        std::size_t calls = 0;
        const Seconds last = stream.settle([&] { take(stream, 1e-3 * times[calls++ % times.size()]); });
        CHECK(last.value == Approx(1e-3 * times[(calls - 1) % times.size()]));
        return calls;
    };
    CHECK(settled({1}) == 2);
    CHECK(settled({1, 1.02, 1.04, 1.045, 2}) == 4);
    CHECK(settled({1, 2}) == 21);
}

TEST_CASE("instructions of tensor cores that ran on no card of a GPU's capability are told")
{
    const auto said = [](const char* isa, const char* capability) {
        Point point;
        point.set("isa", isa);
        Device device;
        device.facts["compute capability"] = capability;
        Turns turns;
        return untried({point, {}, device, {0}, nullptr, turns});
    };
    for (const std::string isa : {"mma", "wgmma", "tcgen05"}) {
        CHECK(said(isa.c_str(), "9.0").empty());
        CHECK(said(isa.c_str(), "10.0") ==
              "not run on hardware: emulation alone checked " + isa + " for a GPU of compute capability 10.0");
    }
    for (const char* none : {"9.1", "3.7"}) CHECK_FALSE(said("mma", none).empty());
    CHECK(said("cuda", "10.0").empty());
}

TEST_CASE("a GPU that no build or not this one serves is told so")
{
    Device device;
    CHECK_THAT(missing_in_build(device).value(), Catch::EndsWith("; this GPU does not say which it has"));
    device.facts["compute capability"] = "3.7";
    CHECK_THAT(missing_in_build(device).value(), Catch::EndsWith("which no CUDA toolkit for C++20 compiles for"));
    device.facts["compute capability"] = "5.2";
    CHECK_THAT(missing_in_build(device).value(),
               Catch::EndsWith("build on its machine, or with -DCMAKE_CUDA_ARCHITECTURES=52-real and CUDA 12"));
}
