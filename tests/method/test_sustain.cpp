// What lasts, on a subject and a counter whose joules follow from watts and seconds by hand.
#include "ert/base/fields.hpp"
#include "ert/method/plan/measure.hpp"
#include "tests/fakes/fake_registry.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace roof;
using namespace roof::fakes;

namespace {

constexpr double update_interval = 0.02;

/// Time passes at a power. The counter shows what was used up to the last multiple of the update interval.
struct Powered {
    ManualClock time;
    std::shared_ptr<double> joules = std::make_shared<double>(7000);
    std::shared_ptr<double> shown = std::make_shared<double>(7000);

    void work(double seconds, double watts) const
    {
        const double begin = *time.now;
        const double end = begin + seconds;
        const double last = std::floor(end / update_interval) * update_interval;
        if (last > begin) *shown = *joules + (last - begin) * watts;
        *joules += seconds * watts;
        time.advance(seconds);
    }
    PowerMeter meter() const
    {
        return {[shown = shown] { return PowerReading{*shown, {310}, {700}}; }};
    }
};

/// Forward 6 ms at 300 W, backward 3 ms at 400 W, update 1 ms at 100 W: 1.8, 1.2 and 0.1 J.
class Step : public Subject {
  public:
    explicit Step(Powered device) : device_(std::move(device)) {}

    Work work() const override { return {}; }
    void launch(Trace& trace) override
    {
        launch_to(Phase::update, trace);
        trace.saw_loss(loss);
        trace.ran_at(Hertz{1.7e9});
    }
    bool launch_to(Phase last, Trace&) override
    {
        if (!has_phases && last != Phase::update) return false;
        device_.work(0.006, 300);
        if (last != Phase::forward) device_.work(0.003, 400);
        if (last == Phase::update) device_.work(0.001, 100);
        return true;
    }
    void check() override {}

    bool has_phases = true;
    double loss = 1;

  private:
    Powered device_;
};

/// 4 ms at 500 W, as often as it is asked to.
class Probe : public Subject {
  public:
    explicit Probe(Powered device) : device_(std::move(device)) {}

    Work work() const override { return {}; }
    void launch(Trace& trace) override
    {
        for (int i = 0; i < trace.repeats(); ++i) {
            device_.work(0.004, 500);
            if (trace.beside()) trace.beside()();
        }
        trace.took(Seconds{0.004 * trace.repeats()}, trace.repeats());
        most_repeats = std::max(most_repeats, trace.repeats());
    }
    void check() override {}

    int most_repeats = 0;

  private:
    Powered device_;
};

Measurement row_with(double median, Role role)
{
    Measurement row;
    row.role = role;
    row.seconds = Estimate<Seconds>::of(std::vector{median});
    return row;
}

std::vector<std::string> sustain_for(Subject& subject, const Powered& device, const PowerMeter& meter, double seconds,
                                     Measurement& row, const SampleObserver& observer = {})
{
    const Clock clock = device.time.clock();
    Trace trace(clock, 0);
    return sustain(subject, trace, Seconds{seconds}, meter, clock, observer, row);
}

}  // namespace

TEST_CASE("between two moves of the counter the power is constant; outside them nothing is known")
{
    const ManualClock time;
    double shown = 5;
    const PowerMeter meter{[&] { return PowerReading{.joules = shown}; }};
    const Clock clock = time.clock();
    EnergyWatch watch(meter, clock);
    // 30 J each 100 ms, seen at once: 300 W. The first move is at 100.1 s, the last at 101.0 s.
    for (int i = 0; i <= 100; ++i) {
        if (i > 0 && i % 10 == 0) shown += 30;
        watch.look();
        time.advance(0.01);
    }
    CHECK(watch.between(Seconds{100.25}, Seconds{100.85}).value == Approx(180));
    CHECK(watch.between(Seconds{100.05}, Seconds{100.85}).value == 0);  // before the first move
    CHECK(watch.between(Seconds{100.25}, Seconds{101.05}).value == 0);  // after the last one
    CHECK(watch.between(Seconds{100.25}, Seconds{100.55}).value == 0);  // three moves
    const PowerMeter fine{meter.read, {}, Seconds{0.01}};
    EnergyWatch seldom(fine, clock);  // looked at four times, of a counter that moves each 10 ms
    std::vector<Seconds> looks;
    for (int i = 0; i < 4; ++i, time.advance(1)) {
        shown += 200;
        looks.push_back(clock());
        seldom.look();
    }
    CHECK(seldom.between(looks[2], looks[3]).value == Approx(200));
    shown = 1;  // the driver was loaded anew
    watch.look();
    CHECK(watch.between(Seconds{100.25}, Seconds{100.85}).value == 0);
}

TEST_CASE("a meter is read at most every two milliseconds")
{
    const ManualClock time;
    int readings = 0;
    const PowerMeter meter{[&] {
        ++readings;
        return PowerReading{.instant = {100.0 * readings}};
    }};
    const Clock clock = time.clock();
    EnergyWatch watch(meter, clock);
    for (int i = 0; i < 21; ++i, time.advance(0.0006)) watch.look();
    CHECK(readings == 6);
    CHECK(watch.take_instant().value == Approx(350));  // of 100 to 600
    CHECK(watch.take_instant().value == 0);
}

TEST_CASE("a step and its phases have the joules of their watts and seconds")
{
    const Powered device;
    Step step(device);
    Measurement row = row_with(0.01, Role::step);
    const auto remarks = sustain_for(step, device, device.meter(), 6, row);
    CHECK(remarks.empty());
    const SustainedLaunches& lasting = row.sustained;
    CHECK(lasting.seconds.median.value == Approx(0.01));
    CHECK(lasting.clock.value == Approx(1.7e9));
    CHECK(lasting.instant.value == Approx(310));
    CHECK(lasting.limit.value == 700);
    CHECK(lasting.energy.median.value == Approx(3.1).epsilon(0.01));
    CHECK(lasting.energy.n == 10);
    CHECK(lasting.forward.median.value == Approx(1.8).epsilon(0.01));
    CHECK(lasting.backward.median.value == Approx(1.2).epsilon(0.03));
    CHECK(lasting.update.median.value == Approx(0.1).margin(0.03));
    CHECK(lasting.update.low.value < 0.1);
    CHECK(lasting.update.high.value > 0.1);
    REQUIRE(row.samples.size() == 30);
    CHECK(row.samples[0].window == "whole");
    CHECK(row.samples[10].window == "forward");
    CHECK(row.samples[29].window == "forward and backward");
    CHECK_FALSE(row.samples[29].used);
    CHECK(row.samples[29].energy.value == Approx(3.0).epsilon(0.02));
    CHECK(row.samples[0].launches >= 50);
    CHECK(row.samples[0].launches <= 51);
}

TEST_CASE("phases that the subject cannot repeat have no joules")
{
    const Powered device;
    Step step(device);
    step.has_phases = false;
    Measurement row = row_with(0.01, Role::step);
    const auto remarks = sustain_for(step, device, device.meter(), 6, row);
    CHECK(row.sustained.energy.median.value == Approx(3.1).epsilon(0.01));
    CHECK(row.sustained.forward.median.value == 0);
    CHECK(row.sustained.update.median.value == 0);
    CHECK(row.samples.size() == 10);
    REQUIRE(remarks.size() == 1);
    CHECK_THAT(remarks.front(), Catch::Contains("joules of some phases"));
}

TEST_CASE("windows shorter than some moves of the counter have no joules, and the row says so")
{
    const Powered device;
    Step step(device);
    Measurement row = row_with(0.01, Role::step);
    const auto remarks = sustain_for(step, device, device.meter(), 0.6, row);  // windows of 50 ms, moves each 20 ms
    CHECK(row.sustained.seconds.median.value == Approx(0.01));
    CHECK(row.sustained.energy.median.value == 0);
    REQUIRE(remarks.size() == 1);
    CHECK_THAT(remarks.front(), Catch::Contains("too rarely"));
}

TEST_CASE("a probe repeats its launch within one, and is watched meanwhile")
{
    const Powered device;
    Probe probe(device);
    Measurement row = row_with(0.004, Role::compute);
    CHECK(sustain_for(probe, device, device.meter(), 12, row).empty());
    CHECK(probe.most_repeats == 250);  // 1 s over 4 ms
    CHECK(row.sustained.seconds.median.value == Approx(0.004));
    CHECK(row.sustained.energy.median.value == Approx(2).epsilon(0.001));  // 4 ms at 500 W
    CHECK(row.sustained.energy.low.value <= row.sustained.energy.median.value);
    CHECK(row.samples.size() == 10);
}

TEST_CASE("an error, or a loss that is no number, ends the repetition and the row")
{
    const ManualClock time;
    BenchRegistry registry = fake_registry(time);
    Plan plan = parse_plan(
        "measure: {warmup: 0, min_samples: 4, max_samples: 4, sustain_seconds: 6}\n"
        "run: [{bench: train, model: tinynet, batch: 8}]\n",
        "plan");
    const Item item = expand(plan, registry).front();
    CHECK(item.stopping.sustain.value == 6);
    int readings = 0;
    registry.measure_power_with("cpu", [&](const Device&) {
        return PowerMeter{[&]() -> PowerReading {
            if (++readings > 3) throw Error("the driver is gone");
            return {.joules = 1.0 * readings};
        }};
    });
    const Measurement row = measure(item, registry, time.clock());
    CHECK(row.status == Status::failed);
    CHECK(row.samples.empty());
    CHECK(row.reason == "the driver is gone");

    const Powered device;
    Step step(device);
    step.loss = std::numeric_limits<double>::quiet_NaN();
    Measurement diverging = row_with(0.01, Role::step);
    CHECK_THROWS_AS(sustain_for(step, device, device.meter(), 6, diverging), Diverged);
}

TEST_CASE("without a meter the rate that lasts is measured, and joules are unknown with the reason")
{
    const ManualClock time;
    const BenchRegistry registry = fake_registry(time);
    const Plan plan = parse_plan(
        "measure: {warmup: 0, min_samples: 4, max_samples: 4}\n"
        "run: [{bench: train, model: tinynet, batch: 8, measure: {sustain_seconds: 12}}]\n",
        "plan");
    const Measurement row = measure(expand(plan, registry).front(), registry, time.clock());
    CHECK(row.sustained.seconds.median.value == Approx(0.08));
    CHECK(row.sustained.energy.median.value == 0);
    CHECK(row.seconds.n == 4);
    CHECK_THAT(row.remarks, Catch::Contains("joules are not known: this build has none for a cpu"));
    for (const Field<Measurement>& field : measurement_fields()) {
        std::string cell;
        field.write(row, cell);
        if (field.name == "energy_median_j") CHECK(cell.empty());
        if (field.name == "sustained_median_s") CHECK(std::stod(cell) == Approx(0.08));
    }
}

TEST_CASE("what lasts can be interrupted between two windows")
{
    const Powered device;
    Step step(device);
    Measurement row = row_with(0.01, Role::step);
    int windows = 0;
    const auto stop_at_third = [&](const Sample&, int) { return ++windows < 3; };
    CHECK_THROWS_AS(sustain_for(step, device, device.meter(), 6, row, stop_at_third), Interrupted);
    CHECK(windows == 3);
}
