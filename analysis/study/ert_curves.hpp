// The Empirical Roofline's curves: what a loop with loads and multiply-adds reaches at each arithmetic intensity and working set, and
// the roofs it stands under.
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

/// Dots by working set in bytes, in the order of growing intensity.
using Curves = std::map<double, std::vector<Dot>>;
using CurveKey = std::tuple<std::string, std::string, int>;  ///< device, precision, threads

/// Of the study's rows and its calibration's.
std::map<CurveKey, Curves> curves_of(const Study& study);

/// The roofs that this loop stands under: those of loads, and of multiply-adds in its precision.
Roofs roofs_over(const Ceilings& ceilings, const CurveKey& key);

/// Index among the levels of `roofs`: the first that is not left behind; of a working set between two levels, the farther one.
std::size_t level_of(double bytes, const Roofs& roofs, const Ceilings& ceilings);

/// What the roofs allow at a level and an intensity, in FLOP/s; 0 if a roof is missing.
double allowed(const Roofs& roofs, std::size_t level, double intensity);

}  // namespace roof::analysis
