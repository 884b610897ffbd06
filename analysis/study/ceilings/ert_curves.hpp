// The curves of the Empirical Roofline: the rate of a loop of loads and multiply-adds at each arithmetic intensity
// and working set, and its roofs.
#pragma once

#include "analysis/roofline/roofs.hpp"
#include "analysis/study/study.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace roof::analysis {

struct Dot {
    double intensity;  ///< FLOP/byte
    Rate rate;         ///< FLOP/s
};

/// Dots by working set in bytes, sorted by intensity.
using Curves = std::map<double, std::vector<Dot>>;
using CurveKey = std::tuple<std::string, std::string, int>;  ///< device, precision, threads

/// The curves of the study's rows and of its calibration's rows.
std::map<CurveKey, Curves> curves_of(const Study& study);

/// The roofs of this loop: load bandwidths, and multiply-adds in its precision.
Roofs roofs_over(const Ceilings& ceilings, const CurveKey& key);

/// Index of the level of `roofs` that holds the working set; between two levels, the farther one.
std::size_t level_of(double bytes, const Roofs& roofs, const Ceilings& ceilings);

/// The rate in FLOP/s that the roofs allow at a level and an intensity; 0 if a roof is missing.
double allowed(const Roofs& roofs, std::size_t level, double intensity);

}  // namespace roof::analysis
