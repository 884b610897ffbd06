#include "ert/method/ceilings/steadiness.hpp"

namespace roof {
namespace {

/// Per clock it is one rate: what makes the interval wide is the clock's own.
bool is_wide_by_clock(const Ceiling& ceiling)
{
    return goes_with_clock(ceiling.level) && !ceiling.disturbed && ceiling.per_clock.n >= least_samples &&
           ceiling.per_clock.relative_half_width() <= tolerance_of(ceiling.level);
}

}  // namespace

double tolerance_of(const std::string& level)
{
    constexpr double of_core = 0.01;
    constexpr double of_memory = 0.03;
    return level == "core" || level == "L1" || level == "L2" ? of_core : of_memory;
}

bool goes_with_clock(const std::string& level)
{
    return level == "core" || (level.size() == 2 && level[0] == 'L');
}

bool is_of_one_core(const std::string& level)
{
    return level == "core" || level == "L1";
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
