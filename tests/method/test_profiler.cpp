// Profiling in the measuring loop, with a fake profiler: its calls, the remarks in rows, and a machine without a
// profiler.
#include "ert/base/error.hpp"
#include "ert/method/plan/measure.hpp"
#include "tests/fakes/fake_registry.hpp"

#include <catch2/catch.hpp>

using namespace roof;

namespace {

/// Records the calls of a profiler.
struct Asked {
    std::vector<std::size_t> parts;
    int traced = 0;
    int counted = 0;
    int counted_kernels = 0;
    std::string written;
};

Profiler made_profiler(Asked& asked, const fakes::ManualClock& clock)
{
    return {"cpu", [&asked, clock](const Device&, const std::vector<TimedPart>&) {
                return Profile{{[&asked](std::size_t part) { asked.parts.push_back(part); }, [] {}},
                               [&asked, clock](const Launch& launch) {
                                   ++asked.traced;
                                   launch();
                               },
                               [&asked](const Launch& launch) {
                                   ++asked.counted;
                                   launch();
                                   return std::vector<std::string>{"no counters"};
                               },
                               [&asked](const std::filesystem::path& folder, const std::string& id) {
                                   asked.written = folder.string() + " " + id;
                               },
                               [&asked](const Launch&) {
                                   ++asked.counted_kernels;
                                   return std::vector<std::string>{"no kernels"};
                               }};
            }};
}

Item profiled_step(const BenchRegistry& registry)
{
    const Plan plan = parse_plan(
        "name: p\nprofile: true\nmeasure: {warmup: 1, min_samples: 3, max_samples: 3}\nrun:\n  - {bench: train, model: "
        "tinynet, batch: 4}\n",
        "p.yaml");
    return expand(plan, registry).front();
}

}  // namespace

TEST_CASE("a plan requests profiling of all entries or of one")
{
    const char* const text = "name: p\nprofile: true\nrun:\n  - {bench: train}\n  - {bench: train, profile: false}\n";
    const Plan plan = parse_plan(text, "p.yaml");
    CHECK(plan.entries[0].profile == Profiling::kernels);
    CHECK(plan.entries[1].profile == Profiling::off);
    CHECK(parse_plan("name: p\nrun:\n  - {bench: train, profile: steps}\n", "p.yaml").entries[0].profile ==
          Profiling::steps);
    CHECK(parse_plan("name: p\nrun:\n  - {bench: train}\n", "p.yaml").entries[0].profile == Profiling::off);
    CHECK_THROWS_WITH(parse_plan("name: p\nprofile: perhaps\nrun:\n  - {bench: train}\n", "p.yaml"),
                      Catch::Contains("perhaps"));
}

TEST_CASE(
    "what is profiled is measured first, then launched by turns with and without tracing, then counted, then written")
{
    const fakes::ManualClock clock;
    BenchRegistry registry = fakes::fake_registry(clock);
    Asked asked;
    registry.add(made_profiler(asked, clock));
    const Item item = profiled_step(registry);
    const Measurement row = measure(item, registry, clock.clock(), {}, "folder");
    CHECK(row.status == Status::ok);
    CHECK(row.samples.size() == 4);
    CHECK(asked.traced == 5);
    CHECK(asked.counted == 1);
    CHECK(asked.written == "folder " + row.id());
    CHECK(asked.parts.size() == 3 * (4 + 5 + 5 + 1));
    CHECK_THAT(row.remarks, Catch::Contains("tracing made a launch 0.0% slower (median of 5 with it and 5 without"));
    CHECK_THAT(row.remarks, Catch::Contains("no counters; no kernels"));
    CHECK(asked.counted_kernels == 1);
}

TEST_CASE("a profile of steps counts no kernel by itself")
{
    const fakes::ManualClock clock;
    BenchRegistry registry = fakes::fake_registry(clock);
    Asked asked;
    registry.add(made_profiler(asked, clock));
    Item item = profiled_step(registry);
    item.profile = Profiling::steps;
    CHECK_THAT(measure(item, registry, clock.clock(), {}, "folder").remarks, Catch::EndsWith("no counters"));
    CHECK(asked.counted == 1);
    CHECK(asked.counted_kernels == 0);
}

TEST_CASE("rows without profiling call no profiler")
{
    const fakes::ManualClock clock;
    BenchRegistry registry = fakes::fake_registry(clock);
    Asked asked;
    registry.add(made_profiler(asked, clock));
    Item item = profiled_step(registry);
    item.profile = Profiling::off;
    CHECK(measure(item, registry, clock.clock()).remarks.empty());
    CHECK(asked.parts.empty());
}

TEST_CASE("a row that cannot be profiled is measured, with a remark")
{
    const fakes::ManualClock clock;
    BenchRegistry registry = fakes::fake_registry(clock);
    const Measurement without = measure(profiled_step(registry), registry, clock.clock());
    CHECK(without.status == Status::ok);
    CHECK_THAT(without.remarks, Catch::Contains("no profiler for a cpu"));

    registry.add(Profiler{
        "cpu", [](const Device&, const std::vector<TimedPart>&) -> Profile { throw Unsupported("no library"); }});
    const Measurement refused = measure(profiled_step(registry), registry, clock.clock());
    CHECK(refused.status == Status::ok);
    CHECK_THAT(refused.remarks, Catch::Contains("not profiled: no library"));
}
