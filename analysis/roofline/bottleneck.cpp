#include "analysis/roofline/bottleneck.hpp"

#include "analysis/roofline/place.hpp"
#include "analysis/roofline/roofs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace roof::analysis {

namespace {

constexpr double normal_95 = 1.959964;

/// The roofs over one row: levels, then the row's precision.
struct RoofList {
    std::vector<const Ceiling*> all;
    std::vector<std::string> names;
};

RoofList roofs_over(const Roofs& roofs, const std::string& precision)
{
    RoofList list;
    for (const Ceiling* level : roofs.levels) {
        list.all.push_back(level);
        list.names.push_back(level->level);
    }
    if (const Ceiling* compute = roofs.precision(precision)) {
        list.all.push_back(compute);
        list.names.push_back(precision);
    }
    return list;
}

double drawn_rate(const Ceiling& roof, double z)
{
    const double median = roof.rate.median.value;
    const double end = z > 0 ? roof.rate.high.value : roof.rate.low.value;
    if (!(median > 0) || !(end > 0)) return median;
    return median * std::exp(std::abs(z) / normal_95 * std::log(end / median));
}

/// Box-Muller. std::normal_distribution differs between implementations.
double normal(std::mt19937_64& random)
{
    const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1.0p-53; };
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * M_PI * uniform());
}

/// [draw][roof]: seconds for one byte or FLOP.
std::vector<std::vector<double>> drawn_costs(const RoofList& roofs)
{
    std::mt19937_64 random(20070401);
    std::vector<std::vector<double>> costs;
    for (int i = 0; i < draws; ++i) {
        costs.emplace_back();
        for (const Ceiling* roof : roofs.all) {
            const double rate = drawn_rate(*roof, normal(random));
            costs.back().push_back(rate > 0 ? 1 / rate : 0);
        }
    }
    return costs;
}

/// In the order of the roofs: the bytes of each level, as many more as its roof for the work's own accesses is slower than
/// the level's fastest; then the FLOPs.
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
    amounts.push_back(p.executed.value > 0 ? p.executed.value : p.flops.value);
    return amounts;
}

struct Hardest {
    std::size_t roof = 0;
    double seconds = 0;
};

Hardest hardest(const Amounts& work, const std::vector<double>& costs)
{
    Hardest most;
    for (std::size_t i = 0; i < costs.size(); ++i) {
        const double seconds = costs[i] * work[i];
        if (seconds > most.seconds) most = {i, seconds};
    }
    return most;
}

/// The bottleneck of works that run one after another: the roof that limits most of their time.
class Sum {
  public:
    explicit Sum(std::size_t roofs) : seconds_(roofs), wins_(roofs) {}

    void add(const Hardest& one) { seconds_[one.roof] += one.seconds; }
    void decide()
    {
        const auto most = std::max_element(seconds_.begin(), seconds_.end());
        if (most != seconds_.end() && *most > 0) ++wins_[static_cast<std::size_t>(most - seconds_.begin())];
        std::fill(seconds_.begin(), seconds_.end(), 0);
    }
    std::vector<Bottleneck> bottlenecks(const RoofList& roofs) const
    {
        std::vector<Bottleneck> list;
        for (std::size_t i = 0; i < wins_.size(); ++i)
            if (wins_[i] > 0) list.push_back({roofs.names[i], static_cast<double>(wins_[i]) / draws});
        std::stable_sort(list.begin(), list.end(), [](auto& a, auto& b) { return a.share > b.share; });
        return list;
    }

  private:
    std::vector<double> seconds_;
    std::vector<int> wins_;
};

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
    const RoofList list = roofs_over(roofs, placements.front().precision);
    const std::vector<std::vector<double>> costs = drawn_costs(list);
    for (Placement& p : placements) {
        if (p.binds.empty()) continue;
        const std::vector<const Placement*> parts = works_of(p, placements);
        std::vector<Amounts> works;
        for (const Placement* part : parts) works.push_back(amounts_of(*part, roofs));
        Sum sum(list.all.size());
        for (const std::vector<double>& cost : costs) {
            for (std::size_t i = 0; i < parts.size(); ++i) {
                Hardest one = hardest(works[i], cost);
                const double taken = parts[i]->seconds.median.value;
                if (taken > 0) one.seconds = std::min(one.seconds, taken);  // as in place()
                sum.add(one);
            }
            sum.decide();
        }
        p.bottlenecks = sum.bottlenecks(list);
    }
}

bool is_confident(const Placement& placement)
{
    return !placement.bottlenecks.empty() && placement.bottlenecks.front().share >= confident_share;
}

std::string bottleneck_text(const Placement& placement)
{
    const auto named = [&](const std::string& roof) {
        const auto level = std::ranges::find(placement.levels, roof, &LevelPlacement::level);
        return level == placement.levels.end() || level->access.empty() ? roof : roof + " " + level->access;
    };
    const std::vector<Bottleneck>& bottlenecks = placement.bottlenecks;
    if (bottlenecks.empty()) return named(placement.binds);
    if (is_confident(placement) || bottlenecks.size() < 2) return named(bottlenecks.front().roof);
    return fmt::format("{} or {} ({:.0f} / {:.0f}%)", named(bottlenecks[0].roof), named(bottlenecks[1].roof),
                       100 * bottlenecks[0].share, 100 * bottlenecks[1].share);
}

}  // namespace roof::analysis
