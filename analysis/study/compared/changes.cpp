// One difference: its ratio with an interval, and the verdict on it.
#include "analysis/study/compared/compare.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

Change step_change(std::vector<std::string> words, std::string unit, const Side& a, const Side& b)
{
    Change change = change_of(std::move(words), std::move(unit), a, b);
    change.one_launch = std::min(a.processes, b.processes) < 2;
    return change;
}

Change change_of(std::vector<std::string> words, std::string unit, const Side& a, const Side& b)
{
    Change change{std::move(words), std::move(unit), a, b};
    change.ratio = b.median / a.median;
    const double down = std::hypot(std::log(b.median / b.low), std::log(a.high / a.median));
    const double up = std::hypot(std::log(b.high / b.median), std::log(a.median / a.low));
    change.low = change.ratio * std::exp(-down);
    change.high = change.ratio * std::exp(up);
    const auto covered = [](const Side& s) {
        return s.n > 0 && median_interval(static_cast<std::size_t>(s.n)).coverage >= coverage_wanted;
    };
    change.enough =
        covered(a) && covered(b) && std::isfinite(change.low) && (std::isfinite(change.high) || b.is_at_least());
    return change;
}

Change rate_change(const Measurement& a, const Measurement& b)
{
    Side first = step_side(a);
    Side second = step_side(b);
    static_cast<Range&>(first) = image_rate(a);
    static_cast<Range&>(second) = image_rate(b);
    return change_of({}, "images/s", first, second);
}

std::string verdict_of(const Change& change)
{
    if (!change.enough) return fmt::format("too few samples to tell ({} and {})", change.a.n, change.b.n);
    if (change.one_launch) return "one launch each: not judged";
    if (!change.judged()) return "a lower bound does not tell";
    if (change.may_be_busy()) return "not told apart: a busy machine";
    if (!change.shown()) return "no difference shown";
    const bool is_rate = change.unit.ends_with("/s");
    return (change.ratio > 1) == is_rate ? "faster" : "slower";
}

Cell Change::cell(const Side& side) const
{
    Cell cell = range(side, unit);
    if (side.is_at_least()) cell.text = rate_text(side.median, unit, true);
    return cell;
}

std::string Change::id() const
{
    return join(words, " ");
}

bool Change::differs() const
{
    return enough && (low > 1 || high < 1) && std::abs(std::log(ratio)) > floor && !may_be_busy();
}

bool Change::may_be_busy() const
{
    const bool is_rate = unit.ends_with("/s");
    const bool is_b_slower = (ratio > 1) != is_rate;
    const double least = ratio > 1 ? low : 1 / high;  // of the larger side over the smaller one
    const double cost = is_b_slower ? b.busy : a.busy;
    return cost > 0 && least > 1 && least * (1 - cost) <= 1;
}

}  // namespace roof::analysis
