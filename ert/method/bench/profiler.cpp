#include "ert/method/bench/profiler.hpp"

#include "ert/base/estimate.hpp"

#include <fmt/format.h>

namespace roof {
namespace {

constexpr int turns = 5;

/// A remark such as "tracing made a launch 3.1% slower: …".
std::string cost_of_tracing(const std::vector<double>& plain, const std::vector<double>& traced)
{
    const double ratio = spread_of(traced).median / spread_of(plain).median;
    return fmt::format("tracing made a launch {:.1f}% {} (median of {} with it and {} without, in turns)",
                       100 * (ratio < 1 ? 1 - ratio : ratio - 1), ratio < 1 ? "faster" : "slower", traced.size(),
                       plain.size());
}

}  // namespace

std::vector<std::string> profile(Subject& subject, Trace& trace, const Profile& profile, Profiling what,
                                 const Clock& clock)
{
    const auto time_of = [&] {
        trace.reset();
        const Seconds begin = clock();
        subject.launch(trace);
        return trace.time_taken().value_or(clock() - begin - trace.data_seconds()).value;
    };
    std::vector<double> plain;
    std::vector<double> traced;
    trace.set_recording(Recording::traced);
    for (int turn = 0; turn < turns; ++turn) {
        plain.push_back(time_of());
        profile.trace([&] { traced.push_back(time_of()); });
    }
    std::vector<std::string> remarks;
    if (spread_of(plain).median > 0) remarks.push_back(cost_of_tracing(plain, traced));
    trace.set_recording(Recording::counted);
    for (std::string& remark : profile.count([&] { time_of(); })) remarks.push_back(std::move(remark));
    if (what != Profiling::kernels || !profile.count_kernels) return remarks;
    for (std::string& remark : profile.count_kernels([&] { time_of(); })) remarks.push_back(std::move(remark));
    return remarks;
}

}  // namespace roof
