#include "ert/method/plan/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace roof {
namespace {

constexpr std::size_t windows = 10;  ///< that count
constexpr Seconds shortest_pause{0.002};
constexpr int least_moves = 4;
constexpr double busy_enough = 0.98;

struct Repeated {
    std::vector<Sample> windows{};  ///< those that count
    double busy = 0;                ///< share of their time in which launches ran
};

/// Repeats launches for `length`.
Sample measure_window(const std::function<void(Trace&)>& launch, Trace& trace, Seconds length, EnergyWatch& watch,
                      const Clock& clock)
{
    Sample sum{.launches = 0};
    Seconds lasted{};
    for (const Seconds begin = clock(); lasted < length; lasted = clock() - begin) {
        const Sample one = time_launch(launch, trace, clock);
        if (one.loss && !std::isfinite(*one.loss)) throw Diverged("the loss is not a finite number in what lasts");
        sum.seconds += one.seconds * one.launches;
        sum.data += one.data;
        sum.clock.value += one.clock.value * one.launches;
        sum.launches += one.launches;
        sum.conditions = one.conditions;
        watch.look();
    }
    sum.seconds = sum.seconds / sum.launches;
    sum.data = sum.data / sum.launches;
    sum.clock = sum.clock / sum.launches;
    sum.conditions.instant = watch.take_instant();
    sum.conditions.limit = watch.limit();
    return sum;
}

Repeated measure_windows(const std::string& name, const std::function<void(Trace&)>& launch, Trace& trace,
                         Seconds length, const PowerMeter& meter, const Clock& clock, const SampleObserver& observer)
{
    EnergyWatch watch(meter, clock);
    trace.set_repeats(trace.repeats(), [&watch] { watch.look(); });
    std::vector<Sample> all;
    std::vector<Seconds> ends{clock()};
    while (all.size() < windows + 2) {
        all.push_back(measure_window(launch, trace, length, watch, clock));
        all.back().window = name;
        ends.push_back(clock());
        if (observer && !observer(all.back(), static_cast<int>(all.size()))) throw Interrupted();
    }
    Seconds ran{};
    for (std::size_t i = 1; i <= windows; ++i) {
        all[i].energy = {watch.between(ends[i], ends[i + 1]).value / all[i].launches};
        ran += (all[i].seconds + all[i].data) * all[i].launches;
    }
    return {{all.begin() + 1, all.end() - 1}, ran / (ends[windows + 1] - ends[1])};
}

/// Empty unless it is known of every window.
Estimate<Joules> energy_of(const std::vector<Sample>& all)
{
    const auto is_unknown = [](const Sample& sample) { return sample.energy.value <= 0; };
    return std::ranges::any_of(all, is_unknown) ? Estimate<Joules>{} : estimate_of(all, &Sample::energy);
}

/// What the longer launches took beyond the shorter ones; empty if the intervals do not tell them apart.
Estimate<Joules> difference(const Estimate<Joules>& longer, const Estimate<Joules>& shorter)
{
    const Estimate<Joules> rest{{longer.median.value - shorter.median.value},
                                {longer.low.value - shorter.high.value},
                                {longer.high.value - shorter.low.value},
                                longer.n};
    return shorter.n > 0 && rest.low.value > 0 ? rest : Estimate<Joules>{};
}

}  // namespace

void EnergyWatch::look()
{
    const Seconds now = clock_();
    if (!meter_.read || now - last_look_ < shortest_pause) return;
    last_look_ = now;
    const PowerReading reading = meter_.read();
    if (reading.instant.value > 0) instants_.push_back(reading.instant.value);
    limit_ = reading.limit;
    if (reading.joules < last_) moves_.clear();  // it began anew, or cannot be read any more
    // Nobody knows since when it had its first value.
    if (last_ > 0 && reading.joules > last_) moves_.push_back({now, reading.joules});
    last_ = reading.joules;
}

Joules EnergyWatch::between(Seconds from, Seconds to) const
{
    if (moves_.empty() || moves_.front().at >= from || moves_.back().at < to) return {};
    const auto is_inside = [&](const Move& move) { return move.at >= from && move.at <= to; };
    const bool is_long = meter_.interval.value > 0 ? to - from >= least_moves * meter_.interval
                                                   : std::ranges::count_if(moves_, is_inside) >= least_moves;
    const auto at = [&](Seconds time) {
        const auto after = std::ranges::lower_bound(moves_, time, {}, &Move::at);
        const Move& before = *(after - 1);
        return before.joules + (after->joules - before.joules) * ((time - before.at) / (after->at - before.at));
    };
    return is_long ? Joules{at(to) - at(from)} : Joules{};
}

Watts EnergyWatch::take_instant()
{
    const std::vector<double> taken = std::exchange(instants_, {});
    return {taken.empty() ? 0 : std::accumulate(taken.begin(), taken.end(), 0.0) / static_cast<double>(taken.size())};
}

std::vector<std::string> sustain(Subject& subject, Trace& trace, Seconds time, const PowerMeter& meter,
                                 const Clock& clock, const SampleObserver& observer, Measurement& row)
{
    if (row.ranks() > 1) return {"not sustained: only a single rank is repeated for what lasts"};
    const Seconds length = time / (windows + 2);
    trace.set_recording(Recording::traced);  // a launch without anything beside it
    trace.set_repeats(static_cast<int>(std::clamp(length / row.seconds.median, 1.0, 1e6)), {});
    const auto repeat = [&](const std::string& name, const std::function<void(Trace&)>& launch) {
        Repeated all = measure_windows(name, launch, trace, length, meter, clock, observer);
        for (const Sample& window : all.windows) row.samples.emplace_back(window).used = false;
        return all;
    };
    const Repeated whole = repeat("whole", [&](Trace& one) { subject.launch(one); });
    const auto of_whole = [&](const auto& field) { return estimate_of(whole.windows, field); };
    SustainedLaunches& lasting = row.sustained;
    lasting = {of_whole(&Sample::seconds), of_whole(&Sample::clock).median,
               of_whole([](const Sample& one) { return one.conditions.instant; }).median,
               of_whole([](const Sample& one) { return one.conditions.limit; }).median, energy_of(whole.windows)};
    std::vector<std::string> remarks;
    if (whole.busy < busy_enough)
        remarks.push_back(
            fmt::format("launches filled {:.0f}% of the windows of what lasts: their joules include the "
                        "pauses between them",
                        100 * whole.busy));
    if (lasting.energy.n == 0) {
        remarks.push_back("joules are not known: " +
                          (!meter.lacking.empty()
                               ? meter.lacking
                               : fmt::format("the counter moves too rarely for windows of {:.2g} s", length.value)));
    } else if (row.role == Role::step) {
        const auto up_to = [&](const std::string& name, Phase last) {
            if (!subject.launch_to(last, trace)) return Estimate<Joules>{};
            return energy_of(repeat(name, [&](Trace& one) { subject.launch_to(last, one); }).windows);
        };
        lasting.forward = up_to("forward", Phase::forward);
        const Estimate<Joules> both = up_to("forward and backward", Phase::backward);
        lasting.backward = difference(both, lasting.forward);
        lasting.update = difference(lasting.energy, both);
        if (std::min({lasting.forward.n, lasting.backward.n, lasting.update.n}) == 0)
            remarks.emplace_back("joules of some phases cannot be told from those of the rest of the step");
    }
    return remarks;
}

}  // namespace roof
