// A step beside the roofs of its own calibration, and what is known of that calibration.
#include "analysis/roofline/roofs.hpp"
#include "analysis/study/compared/compare.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/error.hpp"
#include "ert/base/utc.hpp"
#include "ert/method/bench/processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace roof::analysis {
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
    const std::string id = row.id();
    const auto found = std::ranges::find_if(study.placements,
                                            [&](const Placement& p) { return p.scope == Scope::step && p.row == id; });
    if (found == study.placements.end() || !(found->attainable.value > 0)) return std::nullopt;
    const Placement& p = *found;
    const double least = p.attainable.value;
    const double median = row.seconds.median.value / least;
    const auto apart = [](double a, double b) { return a > 0 && b > 0 ? std::log(a / b) : 0; };
    const double down =
        std::hypot(apart(row.seconds.median.value, row.seconds.low.value), apart(p.attainable_high.value, least));
    const double up =
        std::hypot(apart(row.seconds.high.value, row.seconds.median.value), apart(least, p.attainable_low.value));
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
