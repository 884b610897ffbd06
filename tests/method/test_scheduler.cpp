// The order of measurements, from synthetic rows.
#include "ert/method/plan/measure.hpp"
#include "ert/method/plan/scheduler.hpp"
#include "tests/fakes/fake_registry.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::fakes;

namespace {

/// The fake registry, with a bandwidth bench whose working set may be a keyword.
BenchRegistry registry_with_keywords(const ManualClock& clock, const std::function<double(int round)>& slower)
{
    BenchRegistry registry;
    registry.machine() = fake_machine();
    std::vector<std::string> sizes;
    for (long long size = 8192; size <= 1 << 29; size *= 2) sizes.push_back(std::to_string(size));
    Axis working_set{"working_set", "bytes", sizes, {}, true, 1024, 1LL << 40};
    working_set.keywords = {"levels", "edges"};
    const std::shared_ptr<int> rounds = std::make_shared<int>(0);
    registry.add(std::make_unique<FakeBench>(
        "bandwidth", Role::bandwidth,
        std::vector<Axis>{{"operation", "access", {"load"}, {"load", "copy"}},
                          {"threads", "threads", {"2"}, {}, true, 1, 2},
                          working_set},
        [=](const Point& point) {
            const long long size = point.integer("working_set");
            const double rate = size <= 65536 ? 400e9 : size <= 2097152 ? 200e9 : size <= 33554432 ? 150e9 : 50e9;
            FakeSubject::Script script;
            script.work.compulsory = script.work.no_reuse = Bytes{rate * 1e-3};
            script.rest_seconds = 1e-3 * slower((*rounds)++);
            return script;
        },
        clock));
    return registry;
}

const std::string adaptive_plan =
    "measure: {warmup: 0, min_samples: 6, max_samples: 6}\nrounds: 1\nmax_rounds: 4\nrun:\n"
    "  - {bench: bandwidth, operation: load}\n"
    "  - {bench: bandwidth, operation: copy, working_set: levels}\n"
    "  - {bench: bandwidth, operation: load, working_set: edges}\n";

std::vector<Measurement> measure_batch(const std::vector<Item>& items, const BenchRegistry& registry,
                                       const ManualClock& time)
{
    std::vector<Measurement> rows;
    for (const Item& item : items) rows.push_back(measure(item, registry, time.clock()));
    return rows;
}

void append(std::vector<Measurement>& rows, const std::vector<Measurement>& more)
{
    rows.insert(rows.end(), more.begin(), more.end());
}

/// All planned rounds.
std::vector<Measurement> measure_planned(const Scheduler& scheduler, const BenchRegistry& registry,
                                         const ManualClock& time)
{
    std::vector<Measurement> rows;
    while (!scheduler.left(rows).empty()) append(rows, measure_batch(scheduler.next(rows), registry, time));
    return rows;
}

}  // namespace

TEST_CASE("a list of items is scheduled until each has its row")
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    const Scheduler scheduler(expand(parse_plan("run:\n  - {bench: train, batch: [4, 8]}\n", "p"), registry));
    CHECK(scheduler.next({}).size() == 2);
    const auto rows = measure_batch(scheduler.next({}), registry, time);
    CHECK(scheduler.next({rows.data(), 1}).size() == 1);
    CHECK(scheduler.next(rows).empty());
}

TEST_CASE("items with keywords come after the sweep, at the resolved sizes")
{
    const ManualClock time;
    const BenchRegistry registry = registry_with_keywords(time, [](int) { return 1.0; });
    const Scheduler scheduler(parse_plan(adaptive_plan, "p"), registry);
    std::vector<Measurement> rows = measure_batch(scheduler.next({}), registry, time);
    REQUIRE(rows.size() == 17);
    // Two sizes across each of three edges; from these rows, up to five sizes in each of four levels.
    const std::vector<Item> edges = scheduler.next(rows);
    REQUIRE(edges.size() == 6);
    CHECK(edges[0].point.text("operation") == "load");
    CHECK(edges[0].point.integer("working_set") > 65536);
    CHECK(edges[0].point.integer("working_set") < 131072);
    append(rows, measure_batch(edges, registry, time));
    const std::vector<Item> found = scheduler.next(rows);
    CHECK(found.size() >= 8);
    CHECK(found.size() <= 20);
    CHECK(found[0].point.text("operation") == "copy");
    CHECK(found[0].point.integer("working_set") <= 65536);
    append(rows, measure_batch(found, registry, time));
    CHECK(scheduler.next(rows).empty());
}

TEST_CASE("an unsteady ceiling gets extra rounds up to the maximum")
{
    const ManualClock time;
    const BenchRegistry registry = registry_with_keywords(time, [](int round) { return 1 + 0.2 * (round % 3); });
    const Scheduler scheduler(
        parse_plan("measure: {warmup: 0, min_samples: 6, max_samples: 6}\nrounds: 2\nmax_rounds: 4\n"
                   "run:\n  - {bench: bandwidth, operation: load}\n",
                   "p"),
        registry);
    std::vector<Measurement> rows = measure_planned(scheduler, registry, time);
    REQUIRE(rows.size() == 34);
    CHECK(scheduler.next(rows).empty());
    int batches = 0;
    for (auto items = scheduler.extra_rounds(rows); !items.empty(); items = scheduler.extra_rounds(rows), ++batches) {
        CHECK(items.size() < 17);
        append(rows, measure_batch(items, registry, time));
        REQUIRE(batches < 10);
    }
    CHECK(batches > 0);
    for (const Measurement& row : rows) CHECK(row.point.integer("round") <= 4);
}

TEST_CASE("steady ceilings get one more round, which closes the run, and no other")
{
    const ManualClock time;
    const BenchRegistry registry = registry_with_keywords(time, [](int) { return 1.0; });
    const Scheduler scheduler(
        parse_plan("measure: {warmup: 0, min_samples: 6, max_samples: 6}\nrounds: 3\nmax_rounds: 4\n"
                   "run:\n  - {bench: bandwidth, operation: load}\n",
                   "p"),
        registry);
    std::vector<Measurement> rows = measure_planned(scheduler, registry, time);
    CHECK(rows.size() == 51);
    CHECK(scheduler.next(rows).empty());
    const std::vector<Item> closing = scheduler.extra_rounds(rows);
    REQUIRE_FALSE(closing.empty());
    for (const Item& item : closing) {
        CHECK(item.point.integer("round") == 4);
        // Memory after a rest may give more than it sustains.
        CHECK(item.stopping.warmup == (item.point.number("working_set") > 64e6 ? 80 : 0));
    }
    append(rows, measure_batch(closing, registry, time));
    CHECK(scheduler.extra_rounds(rows).empty());
}

TEST_CASE("a spec above the measured rate starts no measurement")
{
    const ManualClock time;
    BenchRegistry registry;
    registry.machine() = fake_machine();
    registry.machine().devices.front().spec_rates = {{"compute", "core", "fma", "", "", 64, "Made, Guide 1"}};
    registry.add(std::make_unique<FakeBench>(
        "flops", Role::compute, std::vector<Axis>{{"operation", "which", {"fma"}, {"fma"}}},
        [=](const Point&) {
            FakeSubject::Script script;
            script.work.flops = Flops{50e6};
            script.rest_seconds = 1e-3;
            script.clock = Hertz{1e9};
            return script;
        },
        time));
    const Scheduler scheduler(parse_plan("measure: {warmup: 0, min_samples: 6, max_samples: 6}\nrounds: 3\n"
                                         "max_rounds: 4\nrun:\n  - {bench: flops}\n",
                                         "p"),
                              registry);
    std::vector<Measurement> rows = measure_planned(scheduler, registry, time);
    append(rows, measure_batch(scheduler.extra_rounds(rows), registry, time));
    CHECK(rows.size() == 4);
    CHECK(scheduler.extra_rounds(rows).empty());
}

TEST_CASE("a size on the command line replaces the keyword")
{
    const ManualClock time;
    const BenchRegistry registry = registry_with_keywords(time, [](int) { return 1.0; });
    const Scheduler scheduler(parse_plan("run:\n  - {bench: bandwidth, operation: copy, working_set: levels}\n", "p"),
                              registry, {{"working_set", {"65536"}}});
    REQUIRE(scheduler.planned().size() == 1);
    CHECK(scheduler.planned().front().point.text("working_set") == "65536");
}

TEST_CASE("an unknown keyword is an error with the legal values")
{
    const ManualClock time;
    const BenchRegistry registry = registry_with_keywords(time, [](int) { return 1.0; });
    const Plan plan = parse_plan("run:\n  - {bench: bandwidth, operation: load, working_set: edge}\n", "p");
    CHECK_THROWS_WITH(Scheduler(plan, registry), Catch::Contains("levels") && Catch::Contains("edges"));
    CHECK_THROWS_WITH(parse_plan("rounds: 3\nmax_rounds: 2\nrun:\n  - {bench: train}\n", "p"),
                      Catch::Contains("max_rounds"));
}

TEST_CASE("if the plan has an end, any beginning of a round is spread over its entries and their sizes")
{
    const ManualClock time;
    const BenchRegistry registry = registry_with_keywords(time, [](int) { return 1.0; });
    const std::string entries =
        "rounds: 2\nmax_rounds: 3\nrun:\n  - {bench: bandwidth, operation: load, working_set: [1024, 2048, 3072, "
        "4096]}\n"
        "  - {bench: bandwidth, operation: copy, working_set: [1024, 2048]}\n";
    const auto order = [&](const std::string& end) {
        std::vector<std::string> items;
        const Scheduler scheduler(parse_plan(end + entries, "p"), registry);
        for (const Item& item : scheduler.planned())
            items.push_back(item.point.text("operation") + " " + item.point.text("working_set") + " " +
                            item.point.text("round"));
        return items;
    };
    // In the first round the loads, without which there is no roof, go first, and memory's before the others.
    const std::vector<std::string> expected{"load 4096 1", "load 1024 1", "load 3072 1", "load 2048 1",
                                            "copy 1024 1", "copy 2048 1", "load 1024 2", "copy 1024 2",
                                            "load 3072 2", "load 2048 2", "copy 2048 2", "load 4096 2"};
    CHECK(order("end_after_seconds: 1\n") == expected);
    CHECK(order("") == std::vector<std::string>{"load 4096 1", "load 1024 1", "load 2048 1", "load 3072 1",
                                                "copy 1024 1", "copy 2048 1", "load 1024 2", "load 2048 2",
                                                "load 3072 2", "load 4096 2", "copy 1024 2", "copy 2048 2"});
}

TEST_CASE("with several rounds, what roofs need goes first: loads, then a copy on each level that they show")
{
    const ManualClock time;
    const BenchRegistry registry = registry_with_keywords(time, [](int) { return 1.0; });
    const Scheduler scheduler(parse_plan("measure: {warmup: 0, min_samples: 6, max_samples: 6}\nrounds: 3\nrun:\n"
                                         "  - {bench: bandwidth, operation: load}\n"
                                         "  - {bench: bandwidth, operation: copy, working_set: levels}\n",
                                         "p"),
                              registry);
    std::vector<Measurement> rows = measure_batch(scheduler.next({}), registry, time);
    REQUIRE(rows.size() == 17);
    CHECK(rows[0].point.integer("working_set") == 1 << 29);
    const std::vector<Item> copies = scheduler.next(rows);
    REQUIRE(copies.size() == 4);
    for (std::size_t i = 0; i < copies.size(); ++i) {
        constexpr std::array<long long, 4> ends{65536, 2097152, 33554432, 1LL << 29};
        CHECK(copies[i].point.text("operation") == "copy");
        CHECK(copies[i].point.text("round") == "1");
        CHECK(copies[i].point.integer("working_set") <= ends.at(i));
        CHECK((i == 0 || copies[i].point.integer("working_set") > ends.at(i - 1)));
    }
    append(rows, measure_batch(copies, registry, time));
    CHECK(scheduler.left(rows).size() == 34);
    CHECK(scheduler.next(rows).size() == 34);
}

TEST_CASE("the widest instruction set that the machine supports goes first, with every number of threads")
{
    const ManualClock time;
    BenchRegistry registry;
    registry.machine() = fake_machine();
    registry.add(std::make_unique<FakeBench>(
        "flops", Role::compute,
        std::vector<Axis>{{"operation", "which", {"best", "widened"}, {"best", "widened"}},
                          {"isa", "which", {"sse", "avx2", "avx512"}, {"sse", "avx2", "avx512"}},
                          {"threads", "threads", {"1", "2"}, {}, true, 1, 2}},
        [](const Point&) { return FakeSubject::Script{}; }, time));  // of avx512 it has none
    const Scheduler scheduler(parse_plan("rounds: 3\nrun:\n  - {bench: flops}\n", "p"), registry);
    const std::vector<Item> first = scheduler.next({});
    REQUIRE(first.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(first[i].point.text("operation") == "widened");
        CHECK(first[i].point.text("isa") == "avx2");
        CHECK(first[i].point.text("threads") == (i == 0 ? "1" : "2"));
    }
}

TEST_CASE("granted time lifts the limit of rounds")
{
    const ManualClock time;
    const BenchRegistry registry = registry_with_keywords(time, [](int round) { return 1 + 0.1 * (round % 7); });
    Scheduler scheduler(parse_plan(adaptive_plan, "p"), registry);
    std::vector<Measurement> rows;
    for (auto items = scheduler.next(rows); !items.empty(); items = scheduler.next(rows))
        append(rows, measure_batch(items, registry, time));
    for (auto items = scheduler.extra_rounds(rows); !items.empty(); items = scheduler.extra_rounds(rows))
        append(rows, measure_batch(items, registry, time));
    scheduler.grant({});
    CHECK(scheduler.extra_rounds(rows).empty());  // nothing would end them
    scheduler.grant(Seconds{180});
    CHECK_FALSE(scheduler.extra_rounds(rows).empty());
    CHECK(scheduler.end_after().value == 180);
    CHECK(scheduler.extra_rounds_until().value == 180);
}
