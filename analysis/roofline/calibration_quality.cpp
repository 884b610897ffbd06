#include "analysis/roofline/calibration_quality.hpp"

#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace roof::analysis {

namespace {

/// ": a core was shared 70% of the time"; empty if no sample was disturbed.
std::string most_frequent_disturbance(std::span<const Measurement> rows)
{
    double all = 0;
    std::map<std::string, double> seconds;
    for (const Measurement& row : rows)
        for (const Sample& sample : row.samples) {
            all += sample.seconds.value;
            if (!sample.disturbance.empty()) seconds[sample.disturbance] += sample.seconds.value;
        }
    const auto most = std::ranges::max_element(seconds, {}, [](const auto& one) { return one.second; });
    if (most == seconds.end()) return {};
    return fmt::format(": {} {} of the time", printable(most->first), percent(most->second / all));
}

}  // namespace

std::string calibration_quality(std::span<const Ceiling> ceilings, std::span<const Measurement> rows)
{
    if (ceilings.empty()) return {};
    const auto bounds = std::ranges::count(ceilings, Steadiness::at_least, &Ceiling::steadiness);
    const auto unsteady =
        std::ssize(ceilings) - bounds - std::ranges::count(ceilings, Steadiness::steady, &Ceiling::steadiness);
    std::vector<std::string> states;
    const auto add = [&](auto count, std::string_view one, std::string_view many) {
        if (count > 0)
            states.push_back(fmt::format("{}{} {}", count,
                                         states.empty() ? fmt::format(" of {} ceilings", ceilings.size()) : "",
                                         count == 1 ? one : many));
    };
    add(bounds, "is a lower bound", "are lower bounds");
    add(unsteady, "is unsteady", "are unsteady");
    const auto skipped = std::ranges::count(rows, Status::skipped, &Measurement::status);
    const std::string left = skipped == 0 ? "" : fmt::format(" {} of {} rows were not measured.", skipped, rows.size());
    if (states.empty()) return fmt::format("All {} ceilings are steady.{}", ceilings.size(), left);
    return join(states, ", ") + most_frequent_disturbance(rows) + "." + left;
}

}  // namespace roof::analysis
