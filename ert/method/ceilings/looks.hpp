// The rate of a ceiling over looks at different times: one look trusts one moment, and a neighbour that works all the
// while slows all of its rounds alike. Needs no file and no clock; results/look_file.hpp keeps the looks of a machine.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"

#include <optional>
#include <span>
#include <vector>

namespace roof {

/// Looks that are nearer in time count as one.
inline constexpr Seconds looks_apart{600};

/// Interference only slows, so all rounds are compared with the fastest rate on which samples of all looks agree
/// (sustained_rate()). Rounds most of whose undisturbed samples are slower by more than twice the window's reach are
/// left out; of the others, which give value and interval, disturbed samples below the window and those of sets that
/// agree with no other.
///
/// Steady: the rounds of at least two times agree; of at least three, if most rounds were left out. Rounds of one time
/// alone are judged as by sustained_rate(), with `seen_once` for `steady`. So a later look that is faster takes
/// `steady` back, until another agrees. Changed: rounds at the end are slower, more in a row than ever were before fast
/// ones followed. What only the rest between two looks ended does not count there, unless it was a whole look.
///
/// Rounds of another state of the machine confirm a rate, and neither lower nor raise it; where there are no others, it
/// is seen once at most. Empty without samples.
SustainedRate rate_over_looks(std::span<const Look> looks, double tolerance);

/// What an ordinary program gets at each time: the median of all samples of then, disturbed ones included. `looks`: in
/// order of time; those of another state of the machine, and near the time `without`, are left out.
std::vector<double> usual_rates(std::span<const Look> looks, std::optional<long long> without = {});
/// Of each ceiling of a device half the width of the interval of one more of its usual rates, on the logarithmic scale:
/// Student's, with the times as the independent observations, and as one time more the drift that three quarters of the
/// ceilings do not exceed, or a quiet machine's if that is more. Empty for a single time.
std::vector<std::optional<double>> half_widths_between(std::span<const std::vector<double>> usual);

/// Whether they are one ceiling of a machine.
bool is_same_ceiling(const Ceiling& a, const Ceiling& b);

/// Judges each ceiling by all looks at it. No look leaves it as it is; one leaves its rate. Sets `between` and
/// `between_others`. `steady` has to be slow when most ceilings of its level are, and fast when they are; what they
/// lost at the end it lost too. `own`: when the ceilings were measured, as their look says.
void judge_by_looks(std::span<const Look> looks, std::span<Ceiling> ceilings, std::optional<long long> own = {});

/// Each ceiling as it was seen last. `looks`: in order of time.
std::vector<Ceiling> newest_of(std::span<const Look> looks);

}  // namespace roof
