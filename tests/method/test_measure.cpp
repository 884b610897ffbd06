#include "ert/method/plan/measure.hpp"
#include "tests/fakes/fake_registry.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::fakes;

namespace {

Item item_of(const BenchRegistry& registry, const std::string& batch, int warmup = 1)
{
    Plan plan;
    PlanEntry entry;
    entry.bench = "train";
    entry.device = "cpu";
    entry.axes["model"] = {"tinynet"};
    entry.axes["batch"] = {batch};
    entry.stopping = {.warmup = warmup, .min_samples = 4, .max_samples = 4, .interval = 0, .budget = Seconds{1e9}};
    plan.entries.push_back(entry);
    return expand(plan, registry).front();
}

}  // namespace

TEST_CASE("a step is timed as a whole, by phase and by part")
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    const Measurement row = measure(item_of(registry, "8"), registry, time.clock());
    REQUIRE(row.status == Status::ok);
    REQUIRE(row.seconds.median.value == Approx(0.08));
    REQUIRE(row.seconds.n == 4);
    REQUIRE(row.forward.median.value == Approx(0.048));
    REQUIRE(row.backward.median.value == Approx(0.024));
    REQUIRE(row.update.median.value == Approx(0.008));
    REQUIRE(row.parts.size() == 3);
    REQUIRE(row.parts[1].part.layer == "fc");
    REQUIRE(row.parts[1].seconds.median.value == Approx(0.024));
    REQUIRE(row.memory.value == 8e6);
    REQUIRE(row.images_per_second().median == Approx(100));
    REQUIRE((row.work.flops / row.seconds.median).value == Approx(9e11));
    REQUIRE(row.description == "A made-up rate, for tests.");
}

TEST_CASE("a step takes all its samples, however narrow its interval is")
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    Item item = item_of(registry, "8");
    item.stopping.max_samples = 30;
    item.stopping.interval = 0.5;
    CHECK(measure(item, registry, time.clock()).seconds.n == 30);
}

TEST_CASE("warm-up launches keep their losses and are left out of the times")
{
    const ManualClock time;
    BenchRegistry registry = fake_registry(time);
    const Measurement row = measure(item_of(registry, "4", 2), registry, time.clock());
    REQUIRE(row.samples.size() == 6);
    REQUIRE_FALSE(row.samples[1].used);
    REQUIRE(row.samples[2].used);
    REQUIRE(row.losses() == std::vector<double>{7, 6, 5, 4, 3, 2});
    REQUIRE(row.seconds.n == 4);
}

TEST_CASE("a launch during which the program was stopped is named and no step")
{
    const auto used = [](const std::vector<double>& seconds) {
        const ManualClock time;
        FakeSubject::Script script;
        script.rest_seconds = 1;
        script.slower = [&](int launch) { return seconds.at(static_cast<std::size_t>(launch)); };
        FakeSubject subject(script, time);
        Trace trace(time.clock(), 0);
        std::vector<PartMeasurement> parts;
        const auto count = static_cast<int>(seconds.size());
        const StoppingOptions options{
            .warmup = 0, .min_samples = count - 1, .max_samples = count - 1, .interval = 0, .budget = Seconds{1e9}};
        std::string text;
        for (const Sample& sample : collect(subject, trace, options, time.clock(), parts, {}))
            text += sample.used ? "+" : sample.disturbance == "the program was stopped" ? "-" : "?";
        return text;
    };
    CHECK(used({0.1, 0.11, 0.1, 5, 0.1, 0.1}) == "+++-++");
    CHECK(used({5, 0.1, 0.1, 0.11, 0.1}) == "-++++");
    CHECK(used({0.1, 0.1, 0.1, 1.05, 0.1}) == "++++");  // ten times as long, but no second more
    CHECK(used({2, 2, 2, 5, 2}) == "++++");
}

TEST_CASE("the wait for data is not part of the step")
{
    const ManualClock time;
    FakeSubject::Script script;
    script.rest_seconds = 0.3;
    script.data_seconds = 0.1;
    FakeSubject subject(script, time);
    std::vector<PartMeasurement> parts;
    Trace trace(time.clock(), 0);
    const auto samples =
        collect(subject, trace, {.warmup = 0, .min_samples = 1, .max_samples = 1}, time.clock(), parts, {});
    REQUIRE(samples[0].seconds.value == Approx(0.3));
    REQUIRE(samples[0].data.value == Approx(0.1));
}

TEST_CASE("the check runs after the warm-up and before any timing")
{
    const ManualClock time;
    FakeSubject::Script script;
    script.rest_seconds = 0.1;
    int launches_at_check = -1;
    script.check = [&](int launches) { launches_at_check = launches; };
    FakeSubject subject(script, time);
    std::vector<PartMeasurement> parts;
    Trace trace(time.clock(), 0);
    collect(subject, trace, {.warmup = 2, .min_samples = 3, .max_samples = 3}, time.clock(), parts, {});
    REQUIRE(launches_at_check == 2);
}

TEST_CASE("a launch during which the clock stands still is an error, not a sample of 0 s")
{
    const ManualClock time;
    FakeSubject subject({}, time);
    std::vector<PartMeasurement> parts;
    Trace trace(time.clock(), 0);
    CHECK_THROWS_WITH(
        collect(subject, trace, {.warmup = 0, .min_samples = 1, .max_samples = 1}, time.clock(), parts, {}),
        Catch::Contains("the clock did not advance"));
}

TEST_CASE("a failed check is a failed row with the reason and without samples")
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    const Measurement row = measure(item_of(registry, "13"), registry, time.clock());
    REQUIRE(row.status == Status::failed);
    REQUIRE(row.reason == "the loss is not finite");
    REQUIRE(row.samples.empty());
}

TEST_CASE("a subject's remarks are stored in its row")
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    REQUIRE(measure(item_of(registry, "7"), registry, time.clock()).remarks == "one file was broken; two were slow");
    REQUIRE(measure(item_of(registry, "8"), registry, time.clock()).remarks.empty());
}

TEST_CASE("an out-of-memory row has the needed bytes")
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    const Measurement row = measure(item_of(registry, "4096"), registry, time.clock());
    REQUIRE(row.status == Status::out_of_memory);
    REQUIRE(row.memory.value == 1e12);
    REQUIRE_THAT(row.reason, Catch::Contains("1.00 TB"));
}

TEST_CASE("an unsupported point is a row with the bench's reason")
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    const Plan plan = parse_plan("run:\n  - bench: flops\n    isa: avx512\n    threads: 1\n", "p.yaml");
    const Measurement row = measure(expand(plan, registry).front(), registry, time.clock());
    REQUIRE(row.status == Status::unsupported);
    REQUIRE(row.reason == "the fake CPU has no avx512");
    REQUIRE(row.role == Role::compute);
}

TEST_CASE("an observer that returns false drops the current row")
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    const auto stop_at_third = [](const Sample&, int launches) { return launches < 3; };
    REQUIRE_THROWS_AS(measure(item_of(registry, "4"), registry, time.clock(), stop_at_third), Interrupted);
}

namespace {

/// The row of a bench whose subject is as `make` says.
Measurement row_of(const FakeBench::Make& make)
{
    const ManualClock time;
    BenchRegistry registry;
    registry.machine() = fake_machine();
    registry.add(std::make_unique<FakeBench>("train", Role::step, std::vector<Axis>{}, make, time));
    return measure(expand(parse_plan("run: [{bench: train}]", "p"), registry).front(), registry, time.clock());
}

}  // namespace

TEST_CASE("a loss that is not finite ends the row as diverged, with its step")
{
    const Measurement row = row_of([](const Point&) {
        FakeSubject::Script script;
        script.rest_seconds = 1;
        script.loss = [](int launch) { return launch < 2 ? 1.0 : std::nan(""); };
        return script;
    });
    CHECK(row.status == Status::diverged);
    CHECK(row.reason == "the loss is not a finite number at step 3");
    CHECK(row.samples.empty());
}

TEST_CASE("an input that shows as wrong only in a launch fails the row and not the run")
{
    const Measurement row = row_of([](const Point&) -> FakeSubject::Script { throw InputError("no image is usable"); });
    CHECK(row.status == Status::failed);
    CHECK(row.reason == "no image is usable");
}
