#include "ert/method/ceilings/ceiling.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace roof {
namespace {

/// The points of the ceilings that are lower bounds, once for each.
std::multiset<std::string> bounded_points(std::span<const Measurement> rows, const Machine& machine)
{
    std::multiset<std::string> points;
    for (const Ceiling& ceiling : fit_ceilings(rows, machine).all)
        if (ceiling.steadiness == Steadiness::at_least) points.insert(ceiling.point);
    return points;
}

bool is_round_of(const Measurement& row, const std::multiset<std::string>& points)
{
    return row.status == Status::ok && points.contains(id_without_round(row.bench, row.device, row.point));
}

}  // namespace

LowerBounds lower_bounds(std::span<const Measurement> rows, const Machine& machine)
{
    const std::multiset<std::string> points = bounded_points(rows, machine);
    const auto rounds = std::ranges::count_if(rows, [&](const Measurement& row) { return is_round_of(row, points); });
    return {points.size(), static_cast<std::size_t>(rounds)};
}

std::size_t settled_by_more(std::span<const Measurement> rows, const Machine& machine, int times)
{
    const std::multiset<std::string> points = bounded_points(rows, machine);
    std::vector<Measurement> more(rows.begin(), rows.end());
    for (int i = 1; i <= times; ++i)
        for (const Measurement& row : rows) {
            if (!is_round_of(row, points)) continue;
            more.push_back(row);
            more.back().point.set("round", row.point.text_or("round", "1") + "+" + std::to_string(i));
        }
    const std::size_t left = bounded_points(more, machine).size();
    return points.size() - std::min(left, points.size());
}

}  // namespace roof
