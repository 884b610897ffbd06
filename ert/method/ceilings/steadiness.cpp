#include "ert/method/ceilings/steadiness.hpp"

#include "ert/method/bench/level.hpp"

namespace roof {
namespace {

/// Whether the rate per clock is narrow, so that only the clock's spread widens the interval.
bool is_wide_by_clock(const Ceiling& ceiling)
{
    return scales_with_clock(ceiling.level) && !ceiling.disturbed && ceiling.per_clock.n >= least_samples &&
           ceiling.per_clock.relative_half_width() <= tolerance_of(ceiling.level);
}

}  // namespace

double tolerance_of(std::string_view level)
{
    constexpr double near_core = 0.01;
    constexpr double beyond = 0.03;
    return level_traits(level).is_near_core ? near_core : beyond;
}

bool scales_with_clock(std::string_view level)
{
    const LevelKind kind = level_traits(level).kind;
    return kind == LevelKind::core || kind == LevelKind::cache;
}

Steadiness steadiness_of(const Ceiling& ceiling)
{
    if (ceiling.rate.relative_half_width() <= tolerance_of(ceiling.level))
        return ceiling.rate.n < least_samples ? Steadiness::few_samples : Steadiness::steady;
    if (is_wide_by_clock(ceiling)) return Steadiness::unsteady_clock;
    return ceiling.modes.size() > 1 ? Steadiness::bimodal : Steadiness::unsteady;
}

bool shows_two_distances(const Ceiling& ceiling)
{
    constexpr double far_apart = 2;
    return ceiling.operation == "core_to_core" && ceiling.modes.size() > 1 &&
           ceiling.modes.back().rate >= far_apart * ceiling.modes.front().rate;
}

}  // namespace roof
