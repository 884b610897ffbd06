#include "ert/gpu/probes/tuning.hpp"

#include "ert/method/bench/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace roof::gpu {

namespace {

double amount(const Work& work)
{
    return work.flops.value > 0 ? work.flops.value : work.compulsory.value;
}

/// Repetitions that take `length` if `tried` of them took `taken`; from 1 to `max`.
long long repeats_for(Seconds length, Seconds taken, long long tried, long long max)
{
    // As doubles: a trial too short to be timed would overflow the integer.
    if (taken.value <= 0) return max;
    const double repeats = std::round(static_cast<double>(tried) * (length / taken));
    return static_cast<long long>(std::clamp(repeats, 1.0, static_cast<double>(max)));
}

/// Doubles until a launch is long beside its own overhead.
long long repeats_of_trial(const MonitoredStream& stream, const Variant& variant, long long max)
{
    constexpr double long_enough = 0.25;       // of a trial
    stream.time([&] { variant.enqueue(1); });  // loads the code
    for (long long repeats = 1;; repeats *= 2) {
        const Seconds taken = stream.time([&] { variant.enqueue(repeats); });
        if (taken < trial_length * long_enough && repeats * 2 <= max) continue;
        return repeats_for(trial_length, taken, repeats, max);
    }
}

/// All variants in the first round; later those that came near the fastest.
std::vector<std::size_t> worth_a_trial(std::size_t variants, Trials& trials)
{
    constexpr double near = 1.05;
    if (trials.least_cost.size() != variants)
        trials.least_cost.assign(variants, std::numeric_limits<double>::infinity());
    const double least = std::ranges::min(trials.least_cost);
    std::vector<std::size_t> worth;
    for (std::size_t i = 0; i < variants; ++i)
        if (trials.least_cost[i] <= least * near) worth.push_back(i);
    return worth;
}

}  // namespace

Work work_of_flops(double flops)
{
    return {Flops{flops}, {}, {}, Known::analytic};
}

Work work_of_bytes(double bytes)
{
    return {{}, Bytes{bytes}, Bytes{bytes}, Known::analytic};
}

Tuned tune(const MonitoredStream& stream, const std::vector<Variant>& variants, long long max_repeats, Trials& trials,
           Seconds length)
{
    constexpr int opinions = 3;
    const std::vector<std::size_t> tried = worth_a_trial(variants.size(), trials);
    std::vector<long long> repeats;
    for (const std::size_t i : tried) repeats.push_back(repeats_of_trial(stream, variants[i], max_repeats));
    stream.settle([&] { variants[tried.front()].enqueue(repeats.front()); });
    const auto cost = [&](std::size_t k) {
        const Variant& variant = variants[tried[k]];
        const Seconds taken = stream.time([&] { variant.enqueue(repeats[k]); });
        const double found = taken.value / (amount(variant.work) * static_cast<double>(repeats[k]));
        double& least = trials.least_cost[tried[k]];
        least = std::min(least, found);
        return found;
    };
    const std::size_t best = tried.size() == 1 ? 0 : cheapest(tried.size(), opinions, cost);
    const Seconds taken = stream.settle([&] { variants[tried[best]].enqueue(repeats[best]); });
    return {tried[best], repeats_for(length, taken, repeats[best], max_repeats)};
}

std::size_t TunedSubject::settle_on_fastest(const std::vector<Variant>& variants, long long max_repeats, Seconds length)
{
    const Tuned tuned = tune(stream_, variants, max_repeats, trials_, length);
    settle_on(variants[tuned.variant], tuned.repeats);
    return tuned.variant;
}

void TunedSubject::settle_on(const Variant& variant, long long repeats)
{
    chosen_ = variant;
    repeats_ = repeats;
}

Work TunedSubject::work() const
{
    return chosen_.work * static_cast<int>(repeats_);
}

void TunedSubject::launch(Trace& trace)
{
    stream_.launch(trace, [this] { chosen_.enqueue(repeats_); });
}

void TunedSubject::run(long long repeats) const
{
    stream_.time([&] { chosen_.enqueue(repeats); });
}

}  // namespace roof::gpu
