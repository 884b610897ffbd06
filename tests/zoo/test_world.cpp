// Time in a simulated machine, against hand arithmetic.
#include "tests/zoo/world.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::zoo;

namespace {

Model machine(const Kind& kind)
{
    Model model;
    model.kind = &kind;
    model.seed = 7;
    model.cores = 2;
    model.hertz = 3e9;
    return model;
}

/// Share of the launches that fulfil it.
template <class Condition>
double share_of(World& world, const Task& task, int count, const Condition& condition)
{
    int fulfilled = 0;
    for (int i = 0; i < count; ++i) {
        world.pass(0.01);
        fulfilled += condition(world.launch(task)) ? 1 : 0;
    }
    return static_cast<double>(fulfilled) / count;
}

const Task arithmetic{{1e-3, 0, 0}};
const Task memory{{0, 0, 1e-3}};

}  // namespace

TEST_CASE("a neighbour works for its duty, in bursts of its mean length")
{
    Random random(3);
    for (const double step : {0.001, 10.0}) {  // each burst passed through, and jumped over
        Neighbour neighbour(0.3, 0.02, {0.5, 0.5}, random);
        int works = 0;
        int begun = 0;
        bool before = false;
        constexpr int steps = 200000;
        for (int i = 1; i <= steps; ++i) {
            neighbour.go_to(i * step, random);
            works += neighbour.works() ? 1 : 0;
            begun += neighbour.works() && !before ? 1 : 0;
            before = neighbour.works();
            if (neighbour.works()) REQUIRE(neighbour.takes() == 0.5);
        }
        CHECK(static_cast<double>(works) / steps == Approx(0.3).epsilon(0.05));
        // A burst of 0.02 s in 0.0667 s; steps of 1 ms miss the few that are shorter.
        if (step < 0.01) CHECK(begun == Approx(steps * step / (0.02 / 0.3)).epsilon(0.08));
    }
}

TEST_CASE("an undisturbed launch takes its time, and the clock goes on by the readings as well")
{
    const Kind plain{.name = "plain"};
    World world(machine(plain));
    const double before = world.seconds();
    const Timing launch = world.launch({{0.1e-3, 0.2e-3, 0.3e-3}, 2});
    CHECK(launch.seconds == Approx(0.6e-3));
    CHECK(launch.kept == 1);
    CHECK(launch.clock == Approx(3e9).epsilon(0.002));
    CHECK(launch.disturbed == "what the core does alone was not known yet");
    CHECK(world.seconds() - before == Approx(0.6e-3 + 2 * limits::reading_seconds));
}

TEST_CASE("a sibling that always works takes its share of the core and is seen nine times in ten")
{
    const Kind kind{.name = "sibling", .source = Source::sibling};
    Model model = machine(kind);
    model.duty = 1;
    model.burst = 1;
    model.sibling_takes = 0.5;
    World world(model);
    share_of(world, arithmetic, 12, [](const Timing&) { return true; });
    CHECK(share_of(world, arithmetic, 4000, [](const Timing& l) { return l.disturbed == "a core was shared"; }) ==
          Approx(0.9).epsilon(0.02));
    const Timing launch = world.launch(arithmetic);
    CHECK(launch.seconds == Approx(2e-3).epsilon(0.06));
    CHECK(launch.kept == Approx(0.5).epsilon(0.06));
    CHECK(world.launch(memory).kept == Approx(1 - 0.3 * 0.5).epsilon(0.02));
}

TEST_CASE("traffic on the memory bus slows memory alone, for its duty, and the monitor does not see it")
{
    const Kind kind{.name = "bus", .source = Source::bus};
    Model model = machine(kind);
    model.duty = 0.4;
    model.burst = 0.05;
    World world(model);
    share_of(world, memory, 12, [](const Timing&) { return true; });
    // 1 ms of 50 ms bursts: 2% of the launches meet an end.
    CHECK(share_of(world, memory, 4000, [](const Timing& l) { return l.kept < 1; }) == Approx(0.41).margin(0.04));
    CHECK(share_of(world, arithmetic, 100, [](const Timing& l) { return l.kept < 1; }) == 0);
    CHECK(share_of(world, memory, 1000, [](const Timing& l) { return !l.disturbed.empty(); }) == 0);
}

TEST_CASE("a launch that half meets a burst takes the time of both halves")
{
    const Kind kind{.name = "two rates", .source = Source::two_rates};
    Model model = machine(kind);
    model.duty = 0.5;
    model.burst = 2e-3;
    model.second_rate_takes = 0.5;
    World world(model);
    double kept = 0;
    constexpr int count = 20000;
    for (int i = 0; i < count; ++i) {
        world.pass(0.01);
        const Timing launch = world.launch(memory);
        REQUIRE(launch.seconds > 0.999e-3);
        REQUIRE(launch.seconds < 2.001e-3);
        REQUIRE(launch.kept == Approx(1e-3 / launch.seconds));
        kept += launch.seconds;
    }
    // Begun at any time: half of the time at half the rate, so between the mean of the two times and the time at the
    // mean rate.
    CHECK(kept / count > 1e-3 / 0.75);
    CHECK(kept / count < 1.5e-3);
}

TEST_CASE("stolen time lengthens launches by what is stolen, and the kernel counts it in ticks of 10 ms")
{
    const Kind kind{.name = "steal", .source = Source::steal};
    Model model = machine(kind);
    model.duty = 0.2;
    model.burst = 2e-3;
    World world(model);
    double taken = 0;
    int marked = 0;
    constexpr int count = 20000;
    for (int i = 0; i < count; ++i) {
        const Timing launch = world.launch(arithmetic);
        taken += launch.seconds;
        marked += launch.disturbed == "processor time was stolen by the host" ? 1 : 0;
    }
    CHECK(taken / count == Approx(1e-3 / 0.8).epsilon(0.05));
    // 0.25 ms stolen of each launch: a tick in one of forty.
    CHECK(static_cast<double>(marked) / count == Approx(0.025).epsilon(0.2));
}

TEST_CASE("a control group's quota bounds the processor time, and every throttled launch is marked")
{
    const Kind kind{.name = "quota", .source = Source::quota};
    Model model = machine(kind);
    model.quota = 0.5;
    World world(model);
    const double begin = world.seconds();
    int marked = 0;
    int slowed = 0;
    constexpr int count = 1000;
    for (int i = 0; i < count; ++i) {
        const Timing launch = world.launch(arithmetic);
        marked += launch.disturbed.starts_with("throttled") ? 1 : 0;
        slowed += launch.kept < 1 ? 1 : 0;
    }
    // 1 s of work, and 0.14 s of readings that are not counted. 50 ms of work in each 100 ms.
    CHECK(world.seconds() - begin == Approx(2).epsilon(0.05));
    CHECK(marked == slowed);
    CHECK(marked == Approx(20).margin(2));
}

TEST_CASE("threads in their own cores are measured again until each had an undisturbed run")
{
    const Kind kind{.name = "sibling", .source = Source::sibling};
    Model model = machine(kind);
    model.duty = 0.3;
    model.burst = 1e-3;
    model.sibling_takes = 0.5;
    World world(model);
    Task task{{0.3e-3, 0, 0}, 2};
    share_of(world, task, 12, [](const Timing&) { return true; });
    const auto disturbed = [](const Timing& launch) { return !launch.disturbed.empty(); };
    const double together = share_of(world, task, 3000, disturbed);
    task.is_in_cores = true;
    const double apart = share_of(world, task, 3000, disturbed);
    CHECK(together > 0.5);
    CHECK(apart < together / 2);
}

TEST_CASE("a clock with steps and a clock that drifts have the mean of their time, and readings follow them")
{
    const Kind steps{.name = "steps", .clocks = Clocks::steps};
    Model model = machine(steps);
    model.clock_step = 0.05;
    model.clock_step_seconds = 1;
    model.clock_step_duty = 0.5;
    World world(model);
    const double marked = share_of(world, arithmetic, 20000, [](const Timing& l) {
        const bool is_one =
            l.clock == 0 || l.clock == Approx(3e9).epsilon(0.002) || l.clock == Approx(0.95 * 3e9).epsilon(0.002);
        const bool follows = l.clock == 0 || l.seconds * l.clock == Approx(3e6).epsilon(0.002);
        return !is_one || !follows;
    });
    CHECK(marked == 0);
    CHECK(world.mean_clock() == Approx(0.975).epsilon(0.005));
    CHECK(world.fastest_clock() == 1);

    const Kind drifts{.name = "drifts", .clocks = Clocks::drifts};
    model = machine(drifts);
    model.clock_drift = 0.04;
    model.clock_drift_seconds = 10;
    World drifting(model);
    double least = 2;
    for (int i = 0; i < 1000; ++i) {
        drifting.pass(0.01);
        least = std::min(least, drifting.launch(arithmetic).clock / 3e9);
    }
    CHECK(least == Approx(0.96).epsilon(0.002));
    CHECK(drifting.fastest_clock() == Approx(1.04).epsilon(0.001));
}

TEST_CASE("a machine that is throttled keeps a share of all rates from one time on, and memory's alone of another")
{
    for (const Change change : {Change::throttle, Change::memory_throttle}) {
        const Kind kind{.name = "throttled", .change = change};
        Model model = machine(kind);
        model.change_at = 3;
        model.changes_by = 0.5;
        World world(model);
        CHECK(world.launch(memory).seconds == Approx(1e-3));
        CHECK(world.lasting({1, 0, 0}, true) == 1);
        world.pass(3);
        CHECK(world.launch(memory).seconds == Approx(2e-3));
        CHECK(world.launch(arithmetic).seconds == Approx(change == Change::throttle ? 2e-3 : 1e-3));
        // Half of the time in memory: 1 / (0.5 + 0.5 / 0.5) of the rate.
        CHECK(world.lasting({0.5, 0, 0.5}, true) == Approx(change == Change::throttle ? 0.5 : 1 / 1.5));
    }
}

TEST_CASE("a neighbour that leaves slows memory until then, and a host after a migration has another clock and memory")
{
    const Kind leaves{.name = "leaves", .change = Change::leaves};
    Model model = machine(leaves);
    model.change_at = 3;
    model.changes_by = 0.8;
    World world(model);
    CHECK(world.launch(memory).seconds == Approx(1.25e-3));
    world.pass(3);
    CHECK(world.launch(memory).seconds == Approx(1e-3));
    const Kind moves{.name = "moves", .change = Change::migration};
    model.kind = &moves;
    model.changes_clock = 1.2;
    World moved(model);
    moved.pass(3);
    CHECK(moved.launch(memory).seconds == Approx(1.25e-3));
    CHECK(moved.launch(arithmetic).seconds == Approx(1e-3 / 1.2));
    CHECK(moved.launch(arithmetic).clock == Approx(1.2 * 3e9).epsilon(0.002));
}

TEST_CASE("a clock that heat lowers has lost half of 5% after half a minute, and turbo ends")
{
    const Kind thermal{.name = "thermal", .change = Change::thermal};
    World world(machine(thermal));
    world.pass(30);
    CHECK(world.hertz_now(false) == Approx(0.975 * 3e9));
    world.pass(90);
    CHECK(world.hertz_now(false) == Approx(0.95 * 3e9));
    const Kind turbo{.name = "turbo", .change = Change::turbo};
    Model model = machine(turbo);
    model.change_at = 2;
    model.changes_by = 1.1;
    World fast(model);
    CHECK(fast.hertz_now(false) == Approx(3.3e9));
    fast.pass(2);
    CHECK(fast.hertz_now(false) == Approx(3e9));
}

TEST_CASE(
    "memory with a bucket gives its full rate until that is empty, then the rate at which it fills, and rest fills it")
{
    const Kind kind{.name = "bucket", .change = Change::bucket};
    Model model = machine(kind);
    model.bucket = 1.5e-3;
    model.changes_by = 0.25;
    World world(model);
    // 1 ms at the full rate takes 1 - 0.25 of it: 0.75 ms of 1.5. The readings, 0.14 ms, bring 0.035 before the second:
    // 0.785 of 0.75.
    CHECK(world.launch(memory).seconds == Approx(1e-3));
    CHECK(world.launch(memory).seconds == Approx(1e-3));
    // 0.035 + 0.035 are left: 0.0933 ms at the full rate, and the rest at a quarter.
    CHECK(world.launch(memory).seconds == Approx(0.07e-3 / 0.75 + (1e-3 - 0.07e-3 / 0.75) * 4));
    CHECK(world.lasting({0, 0, 1}, false) == Approx(0.25));
    world.pass(0.006);
    CHECK(world.launch(memory).seconds == Approx(1e-3));
    Task chase = memory;
    chase.is_waiting = true;
    for (int i = 0; i < 20; ++i) CHECK(world.launch(chase).seconds == Approx(1e-3));
}

TEST_CASE("an event that lasts falls into one look: those before it do not know it, those after it know nothing else")
{
    const Kind kind{.name = "throttled", .change = Change::throttle};
    Model model = machine(kind);
    model.change_in = 0.5;  // of three looks the second
    model.change_at = 3;
    model.changes_by = 0.5;
    World first(model, nullptr, 3);
    first.pass(10);
    CHECK(first.launch(arithmetic).seconds == Approx(1e-3));
    World second(model, &first, 3);
    CHECK(second.launch(arithmetic).seconds == Approx(1e-3));
    second.pass(3);
    CHECK(second.launch(arithmetic).seconds == Approx(2e-3));
    World third(model, &second, 3);
    CHECK(third.look() == 2);
    CHECK(third.launch(arithmetic).seconds == Approx(2e-3));
    CHECK(third.clock().clock()().value - first.clock().clock()().value > limits::between_looks_seconds);
    // Turbo comes with each look.
    const Kind turbo{.name = "turbo", .change = Change::turbo};
    model.kind = &turbo;
    World fast(model, &third, 4);
    CHECK(fast.hertz_now(false) == Approx(0.5 * 3e9));
    fast.pass(3);
    CHECK(fast.hertz_now(false) == Approx(3e9));
}

TEST_CASE("looks meet other neighbours, and keep what the launches before them lost")
{
    const Kind kind{.name = "bus", .source = Source::bus};
    Model model = machine(kind);
    model.duty = 1;
    model.burst = 1;
    World first(model);
    first.kept("a").push_back(0.5F);
    World second(model, &first, 2);
    CHECK(second.kept("a") == std::vector<float>{0.5F});
    CHECK(first.launch(memory).kept != Approx(second.launch(memory).kept));
}

TEST_CASE(
    "a clock that was lowered by a rest rises with the time since, and a neighbour on memory takes a part of the cache")
{
    const Kind kind{.name = "a", .source = Source::bus};
    Model model = machine(kind);
    model.rested_clock = 0.6;
    model.clock_rises = 0.01;
    World world(model);
    world.pass(1);
    CHECK(world.hertz_now(false) == Approx(3e9));
    world.rest();
    CHECK(world.hertz_now(false) == Approx(0.6 * 3e9));
    world.pass(0.0025);
    CHECK(world.hertz_now(false) == Approx(0.7 * 3e9));
    CHECK(world.cache_held() == 1);
    model.duty = 1;
    model.burst = 1;
    model.cache_held = 0.4;
    CHECK(World(model).cache_held() == 0.4);
}

TEST_CASE("several neighbours on memory take one after another, and regular ones come at equal times")
{
    const Kind kind{.name = "bus", .source = Source::bus, .neighbours = 3};
    Model model = machine(kind);
    model.duty = 1;
    model.burst = 1;
    World world(model);
    // Each takes 5 to 60%.
    CHECK(world.launch(memory).kept < 0.95 * 0.95 * 0.95);
    CHECK(world.launch(memory).kept > 0.4 * 0.4 * 0.4);
    Random random(1);
    Neighbour regular(0.5, 0.01, {0.3, 0.3}, random, true);
    regular.go_to(0.001, random);
    const double first = regular.next_change();
    regular.go_to(first, random);
    CHECK(regular.next_change() == Approx(first + 0.01));
}

TEST_CASE("wide vectors run at their own clock, which the readings show; a clock that cannot be read shows none")
{
    const Kind plain{.name = "plain"};
    Model model = machine(plain);
    model.wide_clock = 0.8;
    World world(model);
    Task task = arithmetic;
    task.is_wide = true;
    CHECK(world.launch(task).clock == Approx(2.4e9).epsilon(0.002));
    const Kind unread{.name = "unread", .clocks = Clocks::unread};
    World blind(machine(unread));
    CHECK(blind.launch(arithmetic).clock == 0);
}
