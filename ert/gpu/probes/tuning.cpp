#include "ert/gpu/probes/tuning.hpp"

#include "ert/gpu/probes/device_facts.hpp"
#include "ert/method/bench/chip.hpp"
#include "ert/method/bench/clock.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

}  // namespace

std::string untried(const GpuPoint& at)
{
    const std::string isa = at.point.text_or("isa", "");
    if (isa != "mma" && isa != "wgmma" && isa != "tcgen05") return {};
    const int capability = capability_of(at.device);
    const GpuChip* const chip = gpu_chip(capability);
    const bool ran = chip != nullptr && chip->capability == capability && !chip->ran_on.empty();
    return ran ? "" : "not run on hardware: emulation alone checked " + isa + " for a GPU" + of_capability(at.device);
}

Work work_of_flops(double flops)
{
    return {Flops{flops}, {}, {}, Known::analytic};
}

Work work_of_bytes(double bytes)
{
    return {{}, Bytes{bytes}, Bytes{bytes}, Known::analytic};
}

Tuned tune(const MonitoredStream& stream, const std::vector<Variant>& variants, long long max_repeats, Turns& turns,
           Seconds length)
{
    constexpr SearchBudget budget{.time = Seconds{0.1}, .least_turns = 3};
    if (turns.size() != variants.size()) turns.clear();
    std::vector<long long> repeats(variants.size(), 0);
    const auto time_of = [&](std::size_t i) { return stream.time([&] { variants[i].enqueue(repeats[i]); }); };
    const auto prepare = [&](std::size_t i) {
        if (repeats[i] == 0) repeats[i] = repeats_of_trial(stream, variants[i], max_repeats);
    };
    prepare(0);
    stream.settle([&] { variants[0].enqueue(repeats[0]); });
    const Fastest fastest = fastest_of(
        variants.size(), budget,
        [&](std::size_t i) {
            prepare(i);
            return time_of(i).value / (amount(variants[i].work) * static_cast<double>(repeats[i]));
        },
        steady_clock(), std::move(turns));
    turns = fastest.turns;
    const std::size_t best = fastest.candidate;
    prepare(best);
    const Seconds taken = stream.settle([&] { variants[best].enqueue(repeats[best]); });
    return {best, repeats_for(length, taken, repeats[best], max_repeats)};
}

std::size_t TunedSubject::settle_on_fastest(const std::vector<Variant>& variants, long long max_repeats, Seconds length)
{
    const Tuned tuned = tune(stream_, variants, max_repeats, turns_, length);
    chosen_ = variants[tuned.variant];
    repeats_ = tuned.repeats;
    return tuned.variant;
}

std::vector<std::string> TunedSubject::remarks() const
{
    std::vector<std::string> all = stream_.remarks();
    if (!untried_.empty()) all.push_back(untried_);
    return all;
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
