// Compares two studies: the ratio of the times of each step in `b` and `a`, and of their ceilings, with intervals.
//   ratio r = b / a of the medians. Its interval treats the relative uncertainties of both sides as independent, on the
//   logarithmic scale: ln(r/low) = sqrt( ln(b/b_low)^2 + ln(a_high/a)^2 ),
//                      ln(high/r) = sqrt( ln(b_high/b)^2 + ln(a/a_low)^2 ).
//   Each side adds the square of its half-width between times, too; of a ceiling without the time of its calibration.
// By the roofs, a side of a step is its time over the least time that the roofs of its own calibration allow, so that
// the speed of the machine leaves the ratio; the intervals of the roofs enter that of the side, and its low end is that
// of the time without what else used the machine (busy_cost()).
#pragma once

#include "analysis/study/study.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/text.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace roof::analysis {

/// Median and interval of seconds or of a rate, in SI units. A lower bound has no upper end: `high` is infinite.
struct Side : Spread {
    int n = 0;
    int processes = 1;  ///< of a step: in which it was measured
    double busy = 0;    ///< the share of it that other programs cost; 1 if that is not known, 0 on a quiet machine
    /// Half the width of its interval between times, as a logarithm. Empty: how far the machine's times differ is not
    /// known.
    std::optional<double> between{};

    bool is_at_least() const { return std::isinf(high); }
};

template <class Unit>
Side side_of(const Estimate<Unit>& e)
{
    return {e, e.n};
}

struct Change {
    std::vector<std::string> words;  ///< the name: bench, device and "axis=value"; or those of a ceiling
    std::string unit;                ///< unit of both sides
    Side a;
    Side b;
    Spread ratio{1, 1, 1};  ///< b / a
    double floor = 0;       ///< |ln ratio| between two runs of the same plan; no smaller difference is shown
    bool enough = false;    ///< both sides have enough samples for an interval of at least 90%
    /// Of steps without a floor: "one launch each" or "at one time each", if that is all that is known of either side.
    /// Two launches of one program differ by more than their steps do, and so do two times of one machine.
    std::string unsure{};

    std::string id() const { return join(words, " "); }
    /// Whether the interval excludes 1, the samples suffice, the difference is above the noise, and no busy machine may
    /// have made it.
    bool differs() const;
    /// That, where more than these two launches and times were looked at.
    bool shown() const { return unsure.empty() && differs(); }
    /// Whether what other programs cost the slower side closes the gap.
    bool may_be_busy() const;
    /// Whether launches, times and samples suffice, and no lower bound leaves the difference open.
    bool judged() const { return enough && unsure.empty() && (shown() || !(a.is_at_least() || b.is_at_least())); }
    Cell cell(const Side& side) const;  ///< the side in its unit, "≥ 58.0 GB/s" of a lower bound
};

enum class Judged { by_time, by_roofs };

struct Comparison {
    std::string a;  ///< the folders
    std::string b;
    Judged judged = Judged::by_time;  ///< the steps
    std::vector<Change> steps;        ///< rows measured on both sides, in a's order
    std::vector<Change> ceilings;     ///< ceilings on both sides
    std::vector<std::string> only_a;
    std::vector<std::string> only_b;
    std::vector<std::string> without_roofs{};  ///< steps of either side that cannot be judged by them
    std::vector<std::string> notes;
    double floor = 0;  ///< noise floor of the steps, as in Change; 0 without a second run of `a`
};

/// "cpu bandwidth L1 load threads=2": the name of a ceiling that every machine has for it.
std::string id_of(const Ceiling& ceiling);

/// The time of a measured step, with what made it busy.
Side step_side(const Measurement& row);
/// Side::between of the steps by row, where it is known.
std::map<std::string, double> between_times(const Study& study);
/// Of one machine the looks of b, the later study, or else those of a, tell of both sides.
void share_between(const Study& a, Side& of_a, const Study& b, Side& of_b);

Change change_of(std::vector<std::string> words, std::string unit, const Side& a, const Side& b);
/// The same of a step or a part of one: judged by the spread between processes and between times, so not with a single
/// one on a side.
Change step_change(std::vector<std::string> words, std::string unit, const Side& a, const Side& b);
/// The images per second of step b beside those of step a.
Change rate_change(const Measurement& a, const Measurement& b);
/// What b is beside a: "slower", "faster", "no difference shown", "a lower bound does not tell", "one launch each: not
/// judged", "at one time each: not judged", "not told apart: a busy machine", or "too few samples to tell (3 and 40)".
std::string verdict_of(const Change& change);
/// Matches rows by their id, on machines with different numbers of threads without these; a row that is not ok counts
/// as absent. By the roofs it throws InputError if a side has no calibration, and notes how good the calibrations are
/// and how long before or after the steps they were made.
Comparison compare(const Study& a, const Study& b, Judged judged = Judged::by_time);
/// Sets the noise floor: the largest ratio between the steps of `a` and those of `again`, a second run of it. Throws
/// InputError if they have no step in common.
void set_noise(Comparison& comparison, const Study& a, const Study& again);
/// The steps of b that are slower by more than `share` (0.05 is 5%): who gives the share says what launches may differ
/// by.
std::vector<Change> slower_than(const Comparison& comparison, double share);
/// The steps, the largest difference first; the ceilings that moved; the number of those that did not, or were not
/// judged. In at most `columns`; 0: unlimited.
std::string to_text(const Comparison& comparison, int columns = 0);
nlohmann::json to_json(const Comparison& comparison);

std::vector<Change> moved(const Comparison& comparison);
/// "drift since <a>: 3 of 120 ceilings moved beyond their intervals", and a table of them, in at most `columns`; 0:
/// unlimited.
std::string drift_text(const Comparison& comparison, int columns = 0);
/// {"since": folder, "compared": n, "moved": [as "ceilings" in to_json]}
nlohmann::json drift_json(const Comparison& comparison);

// By the roofs.

/// The step's time over the least time of its placement; nothing without one.
std::optional<Side> times_the_least(const Study& study, const Measurement& row);
/// Appends how good the study's calibration is, that it was made an hour or more from the steps, and that the machine
/// was busy beside them. Throws InputError without one.
void note_roofs(std::vector<std::string>& notes, const Study& study);

// Beside an earlier study, the baseline: which points belong together, and what changed (baseline.cpp).

/// The baseline's placement of the same step, phase or layer, on different machines whatever its threads; null without
/// one.
const Placement* before(const Study& study, const Placement& now);

/// Each step and layer that the baseline has too, then each ceiling that moved: both values, the ratio with its
/// interval, and what bound them. No rows without a baseline.
DataTable baseline_table(const Study& study);

}  // namespace roof::analysis
