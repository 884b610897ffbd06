#include "analysis/table/busy.hpp"

#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace roof::analysis {

namespace {

// Less is usual on a quiet machine.
constexpr double noticed_time = 0.02;       ///< waited or stolen
constexpr double noticed_processors = 0.1;  ///< used by others, counted in ticks
constexpr double noticed_readings = 0.1;    ///< of a shared core

bool is_above(const std::optional<double>& use, double limit)
{
    return use && *use > limit;
}

bool is_busy(const HostUse& use)
{
    return is_above(use.others, noticed_processors) || is_above(use.stolen, noticed_time) ||
           is_above(use.waited, noticed_time) || is_above(use.shared, noticed_readings);
}

/// Median time of the used launches, or of those during which nothing else ran; 0 for fewer than three.
double median_of_launches(const Measurement& row, bool only_quiet)
{
    constexpr std::size_t fewest = 3;
    std::vector<double> seconds;
    for (const Sample& sample : row.samples)
        if (sample.used && !(only_quiet && is_busy(sample.host))) seconds.push_back(sample.seconds.value);
    return seconds.size() < fewest ? 0 : spread_of(seconds).median;
}

}  // namespace

std::optional<BusyCost> busy_cost(const Measurement& row)
{
    if (!is_busy(row.host)) return {};
    const double all = median_of_launches(row, false);
    const double quiet = median_of_launches(row, true);
    if (all > 0 && quiet > 0) return BusyCost{std::max(0.0, 1 - quiet / all), Known::measured};
    if (!row.host.waited && !row.host.stolen) return {};
    const double processors = std::max(1LL, row.point.has("threads") ? row.point.integer("threads") : 1);
    return BusyCost{std::min(1.0, row.host.waited.value_or(0) + row.host.stolen.value_or(0) / processors),
                    Known::counter};
}

std::string busy_text(const Measurement& row)
{
    const HostUse& host = row.host;
    std::vector<std::string> uses;
    if (is_above(host.others, noticed_processors))
        uses.push_back(fmt::format("other processes used {:.1f} processors", *host.others));
    if (is_above(host.stolen, noticed_time))
        uses.push_back(fmt::format("the host took {:.2f} processors", *host.stolen));
    if (is_above(host.waited, noticed_time))
        uses.push_back(fmt::format("a thread waited {} of the time for a processor", percent(*host.waited)));
    if (is_above(host.shared, noticed_readings))
        uses.push_back(fmt::format("the core was shared in {} of the readings", percent(*host.shared)));
    if (uses.empty()) return {};
    const std::optional<BusyCost> cost = busy_cost(row);
    return join(uses, ", ") +
           (cost ? fmt::format("; this took about {} of the step's time ({})", percent(cost->share), name(cost->known))
                 : "; what it cost is not known");
}

}  // namespace roof::analysis
