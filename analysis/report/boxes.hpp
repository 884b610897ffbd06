// Room in a drawing: what texts, lines and marks cover.
#pragma once

#include "analysis/report/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace roof::analysis {

struct Box {
    double x, y, w, h;
};

/// A mark as drawn.
struct Disc {
    const Mark* mark;
    Spot at;
    double radius;
};

/// What a mark covers: a triangle reaches farther up than down.
inline Disc disc_of(const Mark& mark, Spot at)
{
    constexpr std::array reach{1.0, 1.0, 1.1745, 1.35, 1.2};  // of its shape
    const double up = mark.shape == Shape::triangle ? 0.3375 * mark.radius : 0;
    return {&mark, {at.x, at.y - up}, reach[static_cast<std::size_t>(mark.shape)] * mark.radius};
}

inline bool meets_any(const Box& a, const std::vector<Box>& boxes)
{
    return std::ranges::any_of(
        boxes, [&](const Box& b) { return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h; });
}

/// A dot on the line between two spots.
inline Box box_on(Spot from, Spot to, double share)
{
    return {from.x + share * (to.x - from.x) - 1, from.y + share * (to.y - from.y) - 1, 2, 2};
}

/// From the edge of a mark to the nearest corner or side of a box.
inline double distance(const Disc& disc, const Box& box)
{
    return std::hypot(disc.at.x - std::clamp(disc.at.x, box.x, box.x + box.w),
                      disc.at.y - std::clamp(disc.at.y, box.y, box.y + box.h)) -
           disc.radius;
}

/// Whether a mark besides `mark`, which may be null, is at most so far from the box: `at_most`, and this share of its
/// own radius.
inline bool is_near_another(const std::vector<Disc>& discs, const Box& box, const Mark* mark, double at_most,
                            double of_radius = 0)
{
    return std::ranges::any_of(discs, [&](const Disc& other) {
        return other.mark != mark && distance(other, box) <= at_most + of_radius * other.radius;
    });
}

}  // namespace roof::analysis
