// Segmentation by dynamic programming over all splits. A sweep has only a few dozen points.
#include "ert/method/ceilings/plateau.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace roof {

namespace {

/// A plateau may fall by about a tenth for each doubling of the working set, as a shared L3 does.
constexpr double steepest_fall = 0.16;  ///< log2 of rate per octave
/// It may fall by at most a third from end to end. A larger fall is a step to the next level.
constexpr double most_fall = 0.6;  ///< log2
/// Small working sets include the loop's overhead, so the first plateau may climb.
constexpr double steepest_climb = 0.16;
constexpr std::size_t least_points = 3;
/// A level holds several times as much as the one before. Close points, such as sizes added to find an edge, are not a
/// level.
constexpr double least_span = 0.75;  ///< log2 of working sets
/// The limit for a level between the fastest and memory. A descent over two octaves to a third of the rate is steeper.
constexpr double steepest_between = 0.45;  ///< log2 of rate per octave
constexpr double deviations = 2;
constexpr double quiet = 0.03;  ///< log2: 2%
/// A smaller drop between two plateaus does not make a new level.
constexpr double least_drop = 0.18;  ///< log2: 12%

/// Costs, in units of squared noise. A point between plateaus costs more than one on a plateau (1 on average). A
/// plateau must cost less than leaving out its points.
constexpr double cost_of_plateau = 8;
constexpr double cost_of_point_between = 4;
constexpr double most_cost_of_point = 6;
constexpr double least_noise = 0.02;  ///< log2: 1.4%
/// A point with a very wide interval still carries some information.
constexpr double most_noise = 0.15;  ///< log2: 11%

struct LogPoint {
    double x = 0;      ///< log2 of the working set
    double y = 0;      ///< log2 of the rate
    double noise = 0;  ///< of y
};

struct Line {
    double slope = 0;
    double x = 0;  ///< a point on the line
    double y = 0;

    double at(double where) const { return y + slope * (where - x); }
};

double median(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// The median distance of points from the line between their neighbours. Steps between plateaus are too few to affect
/// it.
double noise_of(std::span<const LogPoint> points)
{
    std::vector<double> bends;
    for (std::size_t i = 1; i + 1 < points.size(); ++i) {
        bends.push_back(std::abs(points[i].y - 0.5 * (points[i - 1].y + points[i + 1].y)));
    }
    constexpr double median_to_deviation = 1.4826;
    const double bend_to_noise = std::sqrt(1.0 / 1.5);
    return std::max(least_noise, median(std::move(bends)) * median_to_deviation * bend_to_noise);
}

double median_slope(std::span<const LogPoint> points)
{
    std::vector<double> slopes;
    for (std::size_t i = 0; i < points.size(); ++i) {
        for (std::size_t j = i + 1; j < points.size(); ++j) {
            slopes.push_back((points[j].y - points[i].y) / (points[j].x - points[i].x));
        }
    }
    return median(std::move(slopes));
}

/// A robust straight line: the median of all slopes, clamped, through the median of the residuals.
Line fit_line(std::span<const LogPoint> points)
{
    Line line;
    const double fall = std::min(steepest_fall, most_fall / (points.back().x - points.front().x));
    line.slope = std::clamp(median_slope(points), -fall, steepest_climb);
    std::vector<double> heights;
    for (const LogPoint& point : points) heights.push_back(point.y - line.slope * point.x);
    line.y = median(std::move(heights));
    return line;
}

double misfit(std::span<const LogPoint> points, const Line& line)
{
    double sum = 0;
    for (const LogPoint& point : points) {
        const double residual = (point.y - line.at(point.x)) / point.noise;
        sum += std::min(residual * residual, most_cost_of_point);
    }
    return sum;
}

double typical_noise(std::span<const LogPoint> points)
{
    std::vector<double> noises;
    for (const LogPoint& point : points) noises.push_back(point.noise);
    return median(std::move(noises));
}

/// Whether leaving out the point is cheaper.
bool lies_off(const LogPoint& point, const Line& line)
{
    return std::abs(point.y - line.at(point.x)) > std::sqrt(most_cost_of_point) * point.noise;
}

/// Whether noisy points lie close together and an outlier at an end gives them their span. In a quiet sweep agreement
/// is not chance, and a level may be short: a GPU's L1s together hold nearly as much as its L2.
bool borrows_span(std::span<const LogPoint> part, const Line& line)
{
    return typical_noise(part) >= quiet && (lies_off(part.front(), line) || lies_off(part.back(), line));
}

/// The plateaus of the cheapest split, in order.
std::vector<Plateau> best_split(std::span<const LogPoint> points)
{
    const std::size_t n = points.size();
    std::vector<double> cost(n + 1, std::numeric_limits<double>::infinity());
    std::vector<std::optional<Plateau>> last(n + 1);
    cost[0] = 0;
    for (std::size_t end = 1; end <= n; ++end) {
        cost[end] = cost[end - 1] + cost_of_point_between;
        for (std::size_t begin = 0; begin + least_points <= end; ++begin) {
            const auto part = points.subspan(begin, end - begin);
            if (part.back().x - part.front().x < least_span) continue;
            const Line line = fit_line(part);
            if (borrows_span(part, line)) continue;
            const double with = cost[begin] + cost_of_plateau + misfit(part, line);
            if (with < cost[end]) {
                cost[end] = with;
                last[end] = Plateau{begin, end - 1};
            }
        }
    }
    std::vector<Plateau> plateaus;
    for (std::size_t end = n; end > 0;) {
        if (last[end]) plateaus.push_back(*last[end]);
        end = last[end] ? last[end]->first : end - 1;
    }
    std::reverse(plateaus.begin(), plateaus.end());
    return plateaus;
}

/// Joins plateaus without a drop beyond the noise between them: a falling or disturbed level may have been split in
/// two.
std::vector<Plateau> join_without_drop(const std::vector<Plateau>& plateaus, std::span<const LogPoint> points)
{
    std::vector<Plateau> joined;
    Line line_before;
    double noise_before = 0;
    for (const Plateau& plateau : plateaus) {
        const auto part = points.subspan(plateau.first, plateau.last - plateau.first + 1);
        const Line line = fit_line(part);
        const double noise = typical_noise(part);
        const bool is_first = joined.empty();
        const double drop = is_first ? 0 : line_before.at(points[joined.back().last].x) - line.at(part.front().x);
        if (is_first || drop > std::max(least_drop, noise_before + noise)) {
            joined.push_back(plateau);
        } else {
            joined.back().last = plateau.last;
        }
        line_before = line;
        noise_before = noise;
    }
    return joined;
}

/// The standard deviation of the slope of a line through points with this noise, in log2 of rate per octave.
double deviation_of_slope(std::span<const LogPoint> points)
{
    double middle = 0;
    for (const LogPoint& point : points) middle += point.x / static_cast<double>(points.size());
    double squares = 0;
    for (const LogPoint& point : points) squares += (point.x - middle) * (point.x - middle);
    return typical_noise(points) / std::sqrt(squares);
}

/// On a long descent between two levels, a few noisy points may agree by chance. So a plateau between the fastest level
/// and memory must be flat within its whole interval, unless the sweep is quiet.
bool is_phantom(std::span<const LogPoint> part)
{
    if (typical_noise(part) < quiet) return false;
    return median_slope(part) - deviations * deviation_of_slope(part) < -steepest_between;
}

void leave_out_phantoms(std::vector<Plateau>& plateaus, std::span<const LogPoint> points)
{
    for (std::size_t i = plateaus.size(); i-- > 1;) {
        const bool is_last = i + 1 == plateaus.size();
        const auto part = points.subspan(plateaus[i].first, plateaus[i].last - plateaus[i].first + 1);
        if (!is_last && is_phantom(part)) plateaus.erase(plateaus.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

/// Larger sizes after a plateau that are no slower belong to the same level, because prefetchers are effective there.
/// They may be too few for a plateau.
void take_in_climbs(std::vector<Plateau>& plateaus, std::span<const LogPoint> points)
{
    for (std::size_t i = 0; i < plateaus.size(); ++i) {
        Plateau& plateau = plateaus[i];
        const std::size_t end = i + 1 < plateaus.size() ? plateaus[i + 1].first : points.size();
        const double height =
            fit_line(points.subspan(plateau.first, plateau.last - plateau.first + 1)).at(points[plateau.last].x);
        for (std::size_t next = plateau.last + 1; next < end; ++next) {
            if (points[next].y >= height - least_noise) plateau.last = next;
        }
    }
}

/// The largest working sets lie in memory by the sweep's design, even if they are too few for a plateau.
void end_in_memory(std::vector<Plateau>& plateaus, std::span<const LogPoint> points)
{
    constexpr std::size_t points_of_memory = 2;
    const std::size_t last = points.size() - 1;
    if (plateaus.empty() || plateaus.back().last + points_of_memory > last) return;
    const auto part = points.subspan(plateaus.back().first, plateaus.back().last - plateaus.back().first + 1);
    const double lowest_cache = fit_line(part).at(part.back().x);
    if (lowest_cache - points[last].y > least_drop) plateaus.push_back({last + 1 - points_of_memory, last});
}

}  // namespace

std::vector<Plateau> find_plateaus(std::span<const RatePoint> sweep)
{
    if (sweep.size() < least_points) return {};
    std::vector<LogPoint> points;
    for (const RatePoint& point : sweep) {
        points.push_back({std::log2(point.working_set), std::log2(point.rate), std::log2(1 + point.uncertainty)});
    }
    const double common = noise_of(points);
    for (LogPoint& point : points) point.noise = std::min(most_noise, std::hypot(point.noise, common));
    std::vector<Plateau> plateaus = join_without_drop(best_split(points), points);
    // Must come first: otherwise the last plateau before a scattered memory would count as memory.
    end_in_memory(plateaus, points);
    leave_out_phantoms(plateaus, points);
    take_in_climbs(plateaus, points);
    return plateaus;
}

}  // namespace roof
