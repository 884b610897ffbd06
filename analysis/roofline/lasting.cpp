#include "analysis/roofline/roofs.hpp"

#include "analysis/table/rows.hpp"
#include "ert/method/bench/level.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

namespace roof::analysis {
namespace {

/// Whether the probe repeated the point of the ceiling; in memory any set that it alone serves will do.
bool is_of(const Measurement& probe, const Ceiling& c)
{
    if (probe.role != c.kind || c.level != memory_level || !probe.point.has("working_set"))
        return probe.role == c.kind && probe.id() == c.point;
    return probe.point.number("working_set") >= c.working_set_low.value &&
           id_without(probe.id(), "working_set") == id_without(c.point, "working_set");
}

/// Windows that differ, or arithmetic that lost more than its clock did, show other programs, not what lasts.
bool is_undisturbed(const Measurement& probe, const Ceiling& c)
{
    constexpr double tolerance = 0.03;
    const SustainedLaunches& all = probe.sustained;
    if (all.seconds.relative_half_width() > tolerance) return false;
    const bool has_clocks = c.clock.median.value > 0 && all.clock.value > 0;
    if (c.kind != Role::compute || c.device != "cpu" || !has_clocks) return true;
    return probe.work.flops.value / all.seconds.median.value / all.clock.value >=
           (1 - tolerance) * c.rate.median.value / c.clock.median.value;
}

}  // namespace

Ceilings with_lasting(Ceilings bursts, std::span<const Measurement> probes)
{
    const auto key = [](const Ceiling& c) { return std::tuple(c.device, c.kind, level_or_precision(c), c.threads); };
    std::set<std::tuple<std::string, Role, std::string, int>> repeated;
    for (Ceiling& c : bursts.all) {
        const auto probe = std::ranges::find_if(
            probes, [&](const Measurement& one) { return is_of(one, c) && is_undisturbed(one, c); });
        if (probe == probes.end()) continue;
        const Work& work = probe->work;
        const double done = c.kind == Role::compute ? work.flops.value : work.compulsory.value;
        c.rate = Quantity<0, 0, 0>{done} / probe->sustained.seconds;
        const auto windows = std::ranges::count(probe->samples, std::string("whole"), &Sample::window);
        c.rate.n = std::max({c.rate.n, static_cast<int>(windows), 1});
        c.steadiness = Steadiness::seen_once;
        c.lasting = true;
        c.rounds = c.times = 0;
        c.clock = {probe->sustained.clock, probe->sustained.clock, probe->sustained.clock, 1, 0};
        c.per_clock = {};
        c.change.clear();
        repeated.insert(key(c));
    }
    if (repeated.empty()) return {};
    std::erase_if(bursts.all, [&](const Ceiling& c) {
        return !c.lasting && c.condition.empty() && c.kind != Role::latency && repeated.contains(key(c));
    });
    return bursts;
}

bool lasts(const Measurement& row)
{
    constexpr double seconds = 2;
    return row.sustained.seconds.median.value > 0 || row.seconds.n * row.seconds.median.value >= seconds;
}

bool has_lasting(const Roofs& roofs, const Ceiling* compute)
{
    return (compute != nullptr && compute->lasting) || std::ranges::any_of(roofs.levels, &Ceiling::lasting);
}

}  // namespace roof::analysis
