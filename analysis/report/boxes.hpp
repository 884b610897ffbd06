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

/// Directions from a mark to its name, first choice first: above, below, beside, then between.
inline constexpr std::array sides{8, 24, 0,  16, 4, 12, 20, 28, 6, 10, 22, 26, 2, 14, 18, 30,
                                  7, 9,  23, 25, 5, 11, 21, 27, 3, 13, 19, 29, 1, 15, 17, 31};  // 1/32 of a turn

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

/// Those that a leader from this spot passes: it may begin within other marks.
inline std::vector<Disc> passed_by(std::vector<Disc> discs, Spot at)
{
    std::erase_if(discs, [&](const Disc& one) { return std::hypot(one.at.x - at.x, one.at.y - at.y) <= one.radius; });
    return discs;
}

inline void cover(std::vector<Box>& boxes, Spot from, Spot to, double step)
{
    for (double share = 0; share < 1; share += step) boxes.push_back(box_on(from, to, share));
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
