// Whether the sweeps of several thread counts show the same levels. Neighbours that share the last cache can produce a false plateau
// between it and memory, but rarely twice at the same place.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"

#include <vector>

namespace roof {

/// The sweep of one thread count on one device.
struct SweptLevels {
    std::vector<double> sizes;        ///< bytes, ascending
    std::vector<double> undisturbed;  ///< those of them that had an undisturbed sample
    std::vector<MeasuredLevel> levels;
};

/// Removes from each sweep the caches that another sweep of the same device should show and does not. Returns the removed ones with
/// `seen_with` filled in; the rest are renumbered alike in all sweeps. With a single sweep nothing is removed.
///
/// Sweeps with equally many caches show the same ones. Otherwise the caches of the shorter sweep are matched to those of the longer
/// one, in order, by size: a private cache grows with the threads, a shared one does not, others lie between. A sweep cannot show a
/// level whose sizes it lacks, nor a shared level behind private ones that hold as much together. A wide level that an undisturbed
/// sweep shows and a disturbed one does not is kept where it shows; the next level of the other sweep begins behind it.
std::vector<MeasuredLevel> take_out_unconfirmed(std::vector<SweptLevels>& sweeps);

}  // namespace roof
