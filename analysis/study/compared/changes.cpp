// One difference: its ratio with an interval, and the verdict on it.
#include "analysis/roofline/roofs.hpp"

#include "analysis/study/compared/compare.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace roof::analysis {

namespace {

constexpr double coverage_wanted = 0.9;

}  // namespace

Side step_side(const Measurement& row)
{
    Side side = side_of(row.seconds);
    side.processes = processes_of(row);
    const std::optional<BusyCost> cost = busy_cost(row);
    side.busy = cost ? cost->share : busy_text(row).empty() ? 0 : 1;
    return side;
}

std::map<std::string, double> between_times(const Study& study)
{
    std::map<std::string, double> known;
    std::span<const Placement> left = study.placements;
    for (const Measurement& row : study.results.rows) {
        const std::string id = row.id();
        const auto is_other = [&](const Placement& p) { return p.row != id; };
        const auto of_row = left.first(static_cast<std::size_t>(std::ranges::find_if(left, is_other) - left.begin()));
        if (of_row.empty()) continue;
        left = left.subspan(of_row.size());
        const auto between = between_times(of_row, roofs_of(ceilings_over(study, row), row.device, threads_of(row)));
        if (between) known[id] = *between;
    }
    return known;
}

void share_between(const Study& a, Side& of_a, const Study& b, Side& of_b)
{
    const Machine &of_one = a.results.machine, &of_other = b.results.machine;
    if (of_one.name != of_other.name || of_one.host != of_other.host) return;
    (of_b.between ? of_a : of_b).between = (of_b.between ? of_b : of_a).between;
}

Change step_change(std::vector<std::string> words, std::string unit, const Side& a, const Side& b)
{
    Change change = change_of(std::move(words), std::move(unit), a, b);
    if (std::min(a.processes, b.processes) < 2)
        change.unsure = "one launch each";
    else if (!a.between || !b.between)
        change.unsure = "at one time each";
    return change;
}

Change change_of(std::vector<std::string> words, std::string unit, const Side& a, const Side& b)
{
    Change change{std::move(words), std::move(unit), a, b};
    const double ratio = b.median / a.median;
    const double times = std::hypot(a.between.value_or(0), b.between.value_or(0));
    const auto apart = [times](double of_a, double of_b) {
        return std::hypot(std::hypot(std::log(of_a), std::log(of_b)), times);  // one of three may give no number
    };
    const double down = apart(a.high / a.median, b.median / b.low);
    const double up = apart(a.median / a.low, b.high / b.median);
    change.ratio = {ratio, ratio * std::exp(-down), ratio * std::exp(up)};
    const auto covered = [](const Side& s) {
        return s.n > 0 && median_interval(static_cast<std::size_t>(s.n)).coverage >= coverage_wanted;
    };
    change.enough = covered(a) && covered(b) && std::isfinite(change.ratio.low) &&
                    (std::isfinite(change.ratio.high) || b.is_at_least());
    return change;
}

Change rate_change(const Measurement& a, const Measurement& b)
{
    Side first = step_side(a);
    Side second = step_side(b);
    static_cast<Spread&>(first) = a.images_per_second();
    static_cast<Spread&>(second) = b.images_per_second();
    return change_of({}, "images/s", first, second);
}

std::string verdict_of(const Change& change)
{
    if (!change.enough) return fmt::format("too few samples to tell ({} and {})", change.a.n, change.b.n);
    if (!change.unsure.empty()) return change.unsure + ": not judged";
    if (!change.judged()) return "a lower bound does not tell";
    if (change.may_be_busy()) return "not told apart: a busy machine";
    if (!change.shown()) return "no difference shown";
    const bool is_rate = change.unit.ends_with("/s");
    return (change.ratio.median > 1) == is_rate ? "faster" : "slower";
}

Cell Change::cell(const Side& side) const
{
    Cell cell = range(side, unit);
    if (side.is_at_least()) cell.text = rate_text(side.median, unit, true);
    return cell;
}

bool Change::differs() const
{
    return enough && (ratio.low > 1 || ratio.high < 1) && std::abs(std::log(ratio.median)) > floor && !may_be_busy();
}

bool Change::may_be_busy() const
{
    const bool is_rate = unit.ends_with("/s");
    const bool is_b_slower = (ratio.median > 1) != is_rate;
    const double least = ratio.median > 1 ? ratio.low : 1 / ratio.high;  // of the larger side over the smaller one
    const double cost = is_b_slower ? b.busy : a.busy;
    return cost > 0 && least > 1 && least * (1 - cost) <= 1;
}

// A step beside the roofs of its own calibration, and what is known of that calibration.

namespace {

constexpr double longest_gap = 3600;  ///< seconds: a machine that was calibrated longer ago may be another one

/// When these rows were started, first and last; nothing if no row says so.
std::optional<std::pair<double, double>> times_of(std::span<const Measurement> rows)
{
    std::optional<std::pair<double, double>> times;
    for (const Measurement& row : rows)
        if (const auto moment = utc_seconds(row.started)) {
            const auto at = static_cast<double>(*moment);
            times = times ? std::pair(std::min(times->first, at), std::max(times->second, at)) : std::pair(at, at);
        }
    return times;
}

/// What was left of the step's time without what else used the machine; a hundredth if it is not known.
double left_by_others(const Measurement& row)
{
    constexpr double least_left = 0.01;
    if (busy_text(row).empty()) return 1;
    const std::optional<BusyCost> cost = busy_cost(row);
    return cost ? std::max(least_left, 1 - cost->share) : least_left;
}

}  // namespace

std::optional<Side> times_the_least(const Study& study, const Measurement& row)
{
    const Placement* const step = step_placement(study.placements, row);
    if (step == nullptr || !(step->attainable.value > 0)) return std::nullopt;
    const double least = step->attainable.value;
    const double median = row.seconds.median.value / least;
    const auto apart = [](double a, double b) { return a > 0 && b > 0 ? std::log(a / b) : 0; };
    const double down =
        std::hypot(apart(row.seconds.median.value, row.seconds.low.value), apart(step->attainable_high.value, least));
    const double up =
        std::hypot(apart(row.seconds.high.value, row.seconds.median.value), apart(least, step->attainable_low.value));
    return Side{{median, median * std::exp(-down) * left_by_others(row), median * std::exp(up)},
                row.seconds.n,
                processes_of(row),
                0,
                0};  // the roofs are those of then
}

void note_roofs(std::vector<std::string>& notes, const Study& study)
{
    const std::string& folder = study.results.folder.string();
    if (study.calibration.folder.empty())
        throw InputError("'" + folder +
                         "' has no calibration to judge it by; `roof calibrate` in the same job makes one");
    if (const std::string warning = calibration_warning(study); !warning.empty()) notes.push_back(warning);
    notes.push_back("roofs of '" + folder + "': " + calibration_quality(study.ceilings, calibration_rows(study)));
    const auto busy = std::ranges::find_if(
        study.results.rows, [](const Measurement& row) { return row.role == Role::step && !busy_text(row).empty(); });
    if (busy != study.results.rows.end())
        notes.push_back("the machine was busy beside '" + folder +
                        "', so intervals reach down to the time without that: " + busy_text(*busy));
    const auto made = times_of(calibration_rows(study)), used = times_of(study.results.rows);
    const double gap = made && used ? std::max(used->first - made->second, made->first - used->second) : 0;
    if (gap > longest_gap)
        notes.push_back(
            fmt::format("they were measured {:.0f} hours from its steps: calibrate in the same job", gap / 3600));
}

}  // namespace roof::analysis
