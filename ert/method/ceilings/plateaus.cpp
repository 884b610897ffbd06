#include "ert/method/ceilings/plateaus.hpp"

#include "ert/base/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace roof {
namespace {

constexpr double cost_of_octave = 0.22;  ///< of an ascent; recorded caches rise by up to 0.2 an octave within a level
constexpr double long_ascent = 3;        ///< octaves
constexpr double cost_of_level = 0.13;
constexpr double least_span = 0.4;      ///< octaves
constexpr double least_contrast = 0.1;  ///< log2 of rate: a curve with less does not show where an edge lies

/// Cost over the octaves of the working set, ascending in both.
struct CostCurve {
    std::vector<double> octaves;
    std::vector<double> costs;  ///< log2 of the time of a line, in any unit
    double weight = 1;

    double at(double octave) const
    {
        const auto after = std::ranges::lower_bound(octaves, octave);
        if (after == octaves.end()) return costs.back();
        const auto i = static_cast<std::size_t>(after - octaves.begin());
        if (i == 0 || *after == octave) return costs[i];
        const double share = (octave - octaves[i - 1]) / (octaves[i] - octaves[i - 1]);
        return costs[i - 1] + share * (costs[i] - costs[i - 1]);
    }
};

CostCurve cost_curve(const RateCurve& curve)
{
    CostCurve made;
    made.weight = curve.weight;
    std::vector<double> raw;
    for (const RatePoint& point : curve.points) {
        made.octaves.push_back(std::log2(point.working_set));
        raw.push_back(-std::log2(point.rate));
    }
    made.costs = raw;
    for (std::size_t i = 1; i + 1 < raw.size(); ++i)
        made.costs[i] = std::max(std::min(raw[i - 1], raw[i]), std::min(std::max(raw[i - 1], raw[i]), raw[i + 1]));
    if (raw.size() > 1) made.costs.back() = std::min(raw.back(), raw[raw.size() - 2]);
    for (std::size_t i = raw.size() - 1; i-- > 0;) made.costs[i] = std::min(made.costs[i], made.costs[i + 1]);
    return made;
}

/// The cheapest division of points 0 to `last` into so many plateaus.
struct Division {
    double cost = std::numeric_limits<double>::infinity();
    std::size_t first = 0;   ///< of the last plateau
    std::size_t before = 0;  ///< last point of the plateau before it
};

class PlateauSearch {
  public:
    PlateauSearch(const std::vector<CostCurve>& curves, std::span<const WorkingSets> edges, std::size_t most)
        : edges_(edges), most_(edges.empty() ? most : edges.size() + 1)
    {
        double low = -std::numeric_limits<double>::infinity();
        for (const CostCurve& curve : curves) {
            low = std::max(low, curve.octaves.front());
            octaves_.insert(octaves_.end(), curve.octaves.begin(), curve.octaves.end());
        }
        std::erase_if(octaves_, [=](double octave) { return octave < low; });
        std::ranges::sort(octaves_);
        octaves_.erase(std::unique(octaves_.begin(), octaves_.end()), octaves_.end());
        for (const double octave : octaves_) {
            double cost = 0;
            for (const CostCurve& curve : curves) cost += curve.weight * curve.at(octave);
            costs_.push_back(cost);
        }
    }

    /// The plateaus of the cheapest division. Empty if none satisfies the edges.
    std::vector<WorkingSets> cheapest() const
    {
        const std::size_t n = octaves_.size();
        std::vector<std::vector<Division>> table(most_, std::vector<Division>(n));
        for (std::size_t last = 0; last < n; ++last)
            if (spans_enough(0, last)) table[0][last].cost = cost_of_level + costs_[last] - costs_[0];
        for (std::size_t level = 1; level < most_; ++level) extend(table[level - 1], table[level], level);

        std::size_t best = most_ - 1;
        if (edges_.empty())
            for (std::size_t level = 0; level < most_; ++level)
                if (table[level].back().cost < table[best].back().cost ||
                    (level < best && table[level].back().cost == table[best].back().cost))
                    best = level;
        if (!std::isfinite(table[best].back().cost)) return {};
        std::vector<WorkingSets> plateaus;
        const auto bytes = [&](std::size_t i) { return std::round(std::exp2(octaves_[i])); };  // whole
        std::size_t last = n - 1;
        for (std::size_t level = best + 1; level-- > 0;) {
            const Division& division = table[level][last];
            plateaus.insert(plateaus.begin(), {bytes(division.first), bytes(last)});
            last = division.before;
        }
        return plateaus;
    }

  private:
    void extend(const std::vector<Division>& before, std::vector<Division>& after, std::size_t level) const
    {
        for (std::size_t first = 1; first < octaves_.size(); ++first) {
            Division best;
            best.first = first;
            for (std::size_t end = 0; end < first; ++end) {
                if (!may_ascend(end, first, level)) continue;
                const double octaves = octaves_[first] - octaves_[end];
                const double cost = before[end].cost + cost_of_level +
                                    cost_of_octave * (octaves + std::max(0.0, octaves - long_ascent));
                if (cost >= best.cost) continue;
                best.cost = cost;
                best.before = end;
            }
            for (std::size_t last = first; last < octaves_.size(); ++last) {
                const double cost = best.cost + costs_[last] - costs_[first];
                if (!spans_enough(first, last) || cost >= after[last].cost) continue;
                after[last] = best;
                after[last].cost = cost;
            }
        }
    }

    bool spans_enough(std::size_t first, std::size_t last) const
    {
        return octaves_[last] - octaves_[first] >= least_span;
    }

    bool may_ascend(std::size_t from, std::size_t to, std::size_t level) const
    {
        if (edges_.empty()) return true;
        const WorkingSets& edge = edges_[level - 1];
        return octaves_[from] <= std::log2(edge.high) && octaves_[to] >= std::log2(edge.low);
    }

    std::span<const WorkingSets> edges_;
    std::size_t most_;
    std::vector<double> octaves_;
    std::vector<double> costs_;
};

/// Where the curve crosses the mean of its costs (not of their logs) at both octaves, if they differ enough.
struct Crossing {
    double octave = 0;
    double bracket = 0;  ///< octaves between the points around it
    double contrast = 0;
};

std::optional<Crossing> crossing_of(const CostCurve& curve, double from, double to)
{
    const double near = std::exp2(curve.at(from));
    const double far = std::exp2(curve.at(to));
    if (std::log2(far / near) < least_contrast) return {};
    const double half = (near + far) / 2;
    for (std::size_t i = 1; i < curve.octaves.size(); ++i) {
        const double right = std::exp2(curve.costs[i]);
        if (curve.octaves[i] <= from || right < half) continue;
        const double left = std::exp2(curve.costs[i - 1]);
        const double bracket = curve.octaves[i] - curve.octaves[i - 1];
        const double share = std::clamp((half - left) / (right - left), 0.0, 1.0);
        return Crossing{curve.octaves[i - 1] + share * bracket, bracket, std::log2(far / near)};
    }
    return {};
}

/// By the curve with the closest points, of several the one with the most contrast; without contrast the middle.
double edge_between(const std::vector<CostCurve>& curves, double from, double to)
{
    std::optional<Crossing> best;
    for (const CostCurve& curve : curves) {
        const std::optional<Crossing> found = crossing_of(curve, from, to);
        if (!found) continue;
        if (!best || found->bracket < best->bracket ||
            (found->bracket == best->bracket && found->contrast > best->contrast))
            best = found;
    }
    return std::exp2(best ? best->octave : (from + to) / 2);
}

/// Of a curve in these sets the medians, 0 without sets. The fastest rate of a larger set is one of a smaller set too.
RatePoint median_over(const RateCurve& curve, const WorkingSets& sets)
{
    std::vector<double> rates;
    std::vector<double> typical;
    double fastest = 0;
    for (auto point = curve.points.rbegin(); point != curve.points.rend(); ++point) {
        fastest = std::max(fastest, point->rate);
        if (point->working_set < sets.low || point->working_set > sets.high) continue;
        rates.push_back(fastest);
        typical.push_back(point->typical);
    }
    return {0, spread_of(rates).median, spread_of(typical).median};
}

/// Whether the fastest rates fall from `near` to `far` in the last curve with sets on both sides, since levels differ
/// most in latency; and the typical rates as the fastest in any curve. Where they do not, only some of the nearer sets
/// met a moment without interference.
bool is_edge(std::span<const RateCurve> curves, const WorkingSets& near, const WorkingSets& far)
{
    constexpr double least_share = 0.5;
    bool falls_last = false;
    bool falls_typically = false;
    for (const RateCurve& curve : curves) {
        const RatePoint before = median_over(curve, near);
        const RatePoint after = median_over(curve, far);
        if (before.rate <= 0 || after.rate <= 0) continue;
        const double fall = std::log2(before.rate / after.rate);
        falls_last = fall >= least_contrast;
        if (falls_last && std::log2(before.typical / after.typical) >= least_share * fall) falls_typically = true;
    }
    return falls_last && falls_typically;
}

}  // namespace

std::vector<Plateau> find_plateaus(std::span<const RateCurve> curves, std::span<const WorkingSets> edges,
                                   std::size_t most)
{
    constexpr std::size_t least_points = 3;
    if (curves.empty() || curves.front().points.size() < least_points) return {};
    std::vector<CostCurve> costs;
    for (const RateCurve& curve : curves)
        if (!curve.points.empty()) costs.push_back(cost_curve(curve));
    std::vector<WorkingSets> flat = PlateauSearch(costs, edges, most).cheapest();
    for (std::size_t i = 0; edges.empty() && i + 1 < flat.size();) {
        if (is_edge(curves, flat[i], flat[i + 1])) {
            ++i;
            continue;
        }
        flat[i].high = flat[i + 1].high;
        flat.erase(flat.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    std::vector<Plateau> plateaus;
    for (std::size_t i = 0; i < flat.size(); ++i) {
        plateaus.push_back({flat[i], 0});
        if (i + 1 == flat.size()) break;
        const double edge = edge_between(costs, std::log2(flat[i].high), std::log2(flat[i + 1].low));
        plateaus.back().edge = edges.empty() ? edge : std::clamp(edge, edges[i].low, edges[i].high);
    }
    return plateaus;
}

}  // namespace roof
