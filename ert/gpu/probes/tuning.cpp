#include "ert/gpu/probes/tuning.hpp"

#include "ert/method/bench/search.hpp"

#include <algorithm>
#include <cmath>

namespace roof::gpu {

namespace {

/// Doubles until a launch is long enough to be told from its own overhead.
long long repeats_of_trial(const MonitoredStream& stream, const Way& way, long long most)
{
    constexpr double fair_share = 0.25;
    stream.time([&] { way.enqueue(1); });  // loads the code
    for (long long repeats = 1;; repeats *= 2) {
        const Seconds taken = stream.time([&] { way.enqueue(repeats); });
        if (taken < trial_length * fair_share && repeats * 2 <= most) continue;
        return repeats_for(trial_length, taken, repeats, most);
    }
}

}  // namespace

long long repeats_for(Seconds length, Seconds taken, long long tried, long long most)
{
    // As doubles: a trial too short to be timed would overflow the integer.
    const auto limit = static_cast<double>(most);
    if (taken.value <= 0) return most;
    return static_cast<long long>(std::clamp(std::round(static_cast<double>(tried) * (length / taken)), 1.0, limit));
}

Tuned tune(const MonitoredStream& stream, const std::vector<Way>& ways, long long most, Seconds length)
{
    constexpr int opinions = 3;
    std::vector<long long> repeats;
    for (const Way& way : ways) repeats.push_back(repeats_of_trial(stream, way, most));
    stream.settle([&] { ways.front().enqueue(repeats.front()); });
    const auto cost = [&](std::size_t i) {
        const Seconds taken = stream.time([&] { ways[i].enqueue(repeats[i]); });
        return taken.value / (ways[i].work * static_cast<double>(repeats[i]));
    };
    const std::size_t way = ways.size() == 1 ? 0 : cheapest(ways.size(), opinions, cost);
    const Seconds taken = stream.settle([&] { ways[way].enqueue(repeats[way]); });
    return {way, repeats_for(length, taken, repeats[way], most)};
}

void TunedStream::settle_on_fastest(std::vector<Way> ways, long long most, Seconds length)
{
    ways_ = std::move(ways);
    tuned_ = tune(stream_, ways_, most, length);
}

void TunedStream::launch(Trace& trace)
{
    stream_.launch(trace, [this] { chosen().enqueue(tuned_.repeats); });
}

void TunedStream::run(long long repeats) const
{
    stream_.time([&] { chosen().enqueue(repeats); });
}

}  // namespace roof::gpu
