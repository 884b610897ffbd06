// Bottlenecks and their confidence.
#include "analysis/roofline/place.hpp"

#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <utility>

namespace roof::analysis {

namespace {

constexpr double confident_share = 0.95;
constexpr int draws = 1000;
constexpr std::size_t draws_beyond = 25;  ///< on each side of the inner 95%

/// The roofs over one row: levels, then the row's precision.
std::vector<const Ceiling*> roofs_over(const Roofs& roofs, const std::string& precision)
{
    std::vector<const Ceiling*> all = roofs.levels;
    if (const Ceiling* compute = roofs.precision(precision)) all.push_back(compute);
    return all;
}

/// In standard errors of a mean of so many rounds: from Student's distribution, by Bailey's form of the method of Box
/// and Muller; of an interval over samples from the normal one. The distributions of the standard library differ
/// between implementations.
double drawn_error(int rounds, std::mt19937_64& random)
{
    const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1.0p-53; };
    const double degrees = rounds - 1;
    const double first = uniform();
    const double square = rounds < min_rounds ? -2 * std::log(first) : degrees * (std::pow(first, -2 / degrees) - 1);
    return std::sqrt(square) * std::cos(2 * M_PI * uniform());
}

double drawn_rate(const Ceiling& roof, std::mt19937_64& random)
{
    const double median = roof.rate.median.value;
    const double error = drawn_error(roof.rounds_of_interval(), random);
    const double end = error > 0 ? roof.rate.high.value : roof.rate.low.value;
    if (!(median > 0) || !(end > 0)) return median;
    return median *
           std::exp(std::abs(error) / half_width_in_errors(roof.rounds_of_interval()) * std::log(end / median));
}

/// [draw][roof]: seconds for one byte or FLOP.
std::vector<std::vector<double>> drawn_costs(const std::vector<const Ceiling*>& roofs)
{
    std::mt19937_64 random(20070401);
    std::vector<std::vector<double>> costs;
    for (int i = 0; i < draws; ++i) {
        costs.emplace_back();
        for (const Ceiling* roof : roofs) {
            const double rate = drawn_rate(*roof, random);
            costs.back().push_back(rate > 0 ? 1 / rate : 0);
        }
    }
    return costs;
}

/// In the order of the roofs: the bytes of each level, as many more as its roof for the work's own accesses is slower
/// than the level's fastest; then the FLOPs.
using Amounts = std::vector<double>;

Amounts amounts_of(const Placement& p, const Roofs& roofs)
{
    Amounts amounts;
    for (std::size_t i = 0; i < roofs.levels.size(); ++i) {
        if (i >= p.levels.size()) {
            amounts.push_back(0);
            continue;
        }
        const LevelPlacement& level = p.levels[i];
        const double slower = level.roof.value > 0 ? roofs.levels[i]->rate.median.value / level.roof.value : 1;
        amounts.push_back(level.low.value * slower);
    }
    amounts.push_back(p.done().value);
    return amounts;
}

/// The roof under which the work takes longest, and that time in seconds.
std::pair<std::size_t, double> hardest(const Amounts& work, const std::vector<double>& costs)
{
    std::pair<std::size_t, double> most;
    for (std::size_t i = 0; i < costs.size(); ++i)
        if (const double seconds = costs[i] * work[i]; seconds > most.second) most = {i, seconds};
    return most;
}

/// The layers of a step or a phase, or the placement itself if there are none.
std::vector<const Placement*> works_of(const Placement& p, std::span<const Placement> placements)
{
    std::vector<const Placement*> works;
    for (const Placement& layer : placements) {
        const bool belongs = p.scope == Scope::step || (p.scope == Scope::phase && p.phase == layer.phase);
        if (layer.scope == Scope::layer && belongs) works.push_back(&layer);
    }
    if (works.empty()) works.push_back(&p);
    return works;
}

}  // namespace

void find_bottlenecks(std::span<Placement> placements, const Roofs& roofs)
{
    if (placements.empty() || roofs.empty()) return;
    const std::vector<const Ceiling*> all = roofs_over(roofs, placements.front().precision);
    const std::vector<std::vector<double>> costs = drawn_costs(all);
    for (Placement& p : placements) {
        if (p.binds.empty()) continue;
        const std::vector<const Placement*> parts = works_of(p, placements);
        std::vector<Amounts> works;
        for (const Placement* part : parts) works.push_back(amounts_of(*part, roofs));
        std::vector<double> seconds(all.size());
        std::vector<int> wins(all.size());
        std::vector<double> sums;
        for (const std::vector<double>& cost : costs) {
            std::ranges::fill(seconds, 0);
            for (std::size_t i = 0; i < parts.size(); ++i) {
                const auto [roof, least] = hardest(works[i], cost);
                const double taken = parts[i]->seconds.median.value;
                seconds[roof] += taken > 0 ? std::min(least, taken) : least;  // as in place()
            }
            sums.push_back(std::accumulate(seconds.begin(), seconds.end(), 0.0));
            // Works run one after another: the roof that limits most of their time binds.
            const auto most = std::ranges::max_element(seconds);
            if (most != seconds.end() && *most > 0) ++wins[static_cast<std::size_t>(most - seconds.begin())];
        }
        for (std::size_t i = 0; i < all.size(); ++i)
            if (wins[i] > 0)
                p.bottlenecks.push_back({level_or_precision(*all[i]), static_cast<double>(wins[i]) / draws});
        std::ranges::stable_sort(p.bottlenecks, std::greater{}, &Bottleneck::share);
        std::ranges::sort(sums);
        p.attainable_low = {std::min(p.attainable.value, sums[draws_beyond])};
        p.attainable_high = {std::max(p.attainable.value, sums[sums.size() - 1 - draws_beyond])};
    }
}

bool is_confident(const Placement& placement)
{
    return !placement.bottlenecks.empty() && placement.bottlenecks.front().share >= confident_share;
}

std::optional<double> between_times(std::span<const Placement> of_row, const Roofs& roofs)
{
    double least = 0;
    double between = 0;
    for (const Placement& p : of_row) {
        if (p.scope != of_row.back().scope || p.attainable.value <= 0) continue;
        const Ceiling* const roof = p.binds_compute ? roofs.precision(p.binds) : roofs.level(p.binds);
        least += p.attainable.value;
        between += p.attainable.value * (roof ? roof->between.value_or(HUGE_VAL) : HUGE_VAL);
    }
    if (!(least > 0) || !std::isfinite(between)) return std::nullopt;
    return between / least;
}

std::string bottleneck_text(const Placement& placement)
{
    const auto named = [&](const std::string& roof) {
        const bool is_open = placement.nearer_may_bind && roof == placement.binds;
        return roof_name(placement, roof) + (is_open ? " or a nearer level" : "");
    };
    const std::vector<Bottleneck>& bottlenecks = placement.bottlenecks;
    if (bottlenecks.empty()) return named(placement.binds);
    if (is_confident(placement) || bottlenecks.size() < 2) return named(bottlenecks.front().roof);
    return fmt::format("{} or {} ({:.0f} / {:.0f}%)", named(bottlenecks[0].roof), named(bottlenecks[1].roof),
                       100 * bottlenecks[0].share, 100 * bottlenecks[1].share);
}

// Placements in sentences.

std::string share_text(const Placement& p)
{
    if (p.fraction() >= shown_as_above)
        return (p.roof_may_be_higher ? "≤ 100%" : "> 100%") + (p.served_by.empty() ? "" : ", from " + p.served_by);
    return (p.is_at_most() ? "≤ " : "") + percent(p.fraction());
}

std::string_view headroom_sense(bool roof_may_be_higher, bool bytes_may_be_more)
{
    if (roof_may_be_higher && bytes_may_be_more) return "about ";
    return roof_may_be_higher ? "at least " : bytes_may_be_more ? "up to " : "";
}

std::string accesses_text(const LevelPlacement& level)
{
    constexpr double shown = 1.05;
    const double times = level.low.value > 0 ? 1 + level.again / level.low : 1;
    if (times < shown) return level.access;
    return fmt::format("{}{}each byte {:.2g} times", level.access, level.access.empty() ? "" : ", ", times);
}

std::string roof_name(const Placement& p, const std::string& roof)
{
    const auto level = std::ranges::find(p.levels, roof, &LevelPlacement::level);
    const std::string accesses = level == p.levels.end() ? "" : accesses_text(*level);
    return accesses.empty() ? roof : roof + " " + accesses;
}

std::string bytes_text(const LevelBytes& bytes)
{
    return format_si(bytes.low.value, "B") + (bytes.high > bytes.low ? " to " + format_si(bytes.high.value, "B") : "");
}

std::string explain(const Placement& p, const std::string& name)
{
    std::string what = name.empty() ? p.name : name;
    if (name.empty() && p.scope == Scope::step && p.batch > 0) what += fmt::format(" batch {} step", p.batch);
    if (p.scope == Scope::layer && p.phase) what += " " + p.phase_name();
    std::string text = fmt::format("{}: {} in {}", what, rate_text(p.flops.value, "FLOP", p.is_lower_bound),
                                   with_interval(p.seconds, "s"));
    if (p.flops.value > 0) text += " = " + rate_text(p.rate.median.value, "FLOP/s", p.is_lower_bound);
    if (!p.levels.empty()) {
        const LevelPlacement& farthest = p.levels.back();
        text += fmt::format("; {} at least to {}, {} FLOP/B", format_si(farthest.low.value, "B"), farthest.level,
                            intensity_text(farthest.intensity_low, farthest.intensity_high));
    }
    if (p.link)
        text += fmt::format("; {} over each link, {} FLOP/B", format_si(p.link->low.value, "B"),
                            plain_number(p.link->intensity_high.value, 2));
    const std::string_view lasting = p.lasting ? "lasting " : "";
    if (!p.binds.empty())
        text += (p.is_sum ? fmt::format("; its {}roofs allow {}, most of it {}: ", lasting,
                                        format_duration(p.attainable.value), roof_name(p, p.binds))
                          : fmt::format("; the {}{} roof allows {}: ", lasting, roof_name(p, p.binds),
                                        format_duration(p.attainable.value))) +
                (p.fraction() >= shown_as_above ? fmt::format("it took 1/{} of that", plain_number(p.fraction()))
                                                : share_text(p) + " reached");
    return text + ".";
}

std::string remarks_on(const Placement& p)
{
    if (p.levels.empty() || !(p.flops.value > 0)) return {};
    const LevelPlacement& farthest = p.levels.back();
    std::string text;
    if (is_above(farthest, p.rate.median) && !p.served_by.empty())
        text += fmt::format(" Above the {} roof: part of these bytes was still in a cache.", farthest.level);
    if (farthest.high > farthest.low && farthest.roof.value > 0)
        text += fmt::format(" Moved at every use (no reuse) they would be {} and take {} at {}'s roof.",
                            format_si(farthest.high.value, "B"), format_duration((farthest.high / farthest.roof).value),
                            farthest.level);
    return text;
}

}  // namespace roof::analysis
