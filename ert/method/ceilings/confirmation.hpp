// Whether the sweeps of several thread counts show the same levels. Strangers who share the last cache can make a plateau on
// its way down to memory; they seldom make it twice at the same place.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"

#include <vector>

namespace roof {

/// What one thread count's sweep of a device shows.
struct SweptLevels {
    std::vector<double> sizes;        ///< bytes, ascending
    std::vector<double> undisturbed;  ///< those of them that had an undisturbed sample
    std::vector<MeasuredLevel> levels;
};

/// Takes out of each sweep the caches that another sweep of the same device could see and does not, and returns them,
/// `seen_with` filled in; those that stay are numbered anew, alike in all sweeps. One sweep alone is believed.
///
/// Sweeps with equally many caches show the same ones. Where they differ, those of the shorter are placed among those of the
/// longer, in order, where sizes fit best: a private cache grows with the threads, a shared one does not, others lie between.
/// A sweep cannot see a level whose sizes it has not swept, nor a shared one behind private ones that hold as much together.
/// Nor does one that was disturbed there outweigh one that was not, if the level is wider than other tenants' lines make one: then
/// it stays in the sweep that shows it, and the next level of the other begins behind it.
std::vector<MeasuredLevel> take_out_unconfirmed(std::vector<SweptLevels>& sweeps);

}  // namespace roof
