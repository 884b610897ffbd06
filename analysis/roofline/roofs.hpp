// The roofs over a point: the best ceiling of each memory level and of each precision of a device, at one thread count.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"

#include <string>
#include <vector>

namespace roof::analysis {

/// Pointers into a Ceilings object, which must outlive this one.
struct Roofs {
    std::string device;
    int threads = 0;                      ///< thread count of the ceilings; 0 if there are none
    std::vector<const Ceiling*> levels;   ///< one per memory level, nearest to the core first
    std::vector<const Ceiling*> compute;  ///< multiply-adds, one per precision, highest first
    std::vector<const Ceiling*> mixes;    ///< the best mix of a precision, if it is above its multiply-adds

    /// The compute ceiling of a precision; null if it was not measured at this thread count.
    const Ceiling* precision(const std::string& name) const;
    bool empty() const { return levels.empty() && compute.empty(); }
};

/// The roofs at `threads` if the device has a ceiling with that count, otherwise at the most threads.
Roofs roofs_of(const Ceilings& ceilings, const std::string& device, int threads);
/// The roofs at the most threads.
Roofs roofs_of(const Ceilings& ceilings, const std::string& device);

/// The devices in order of appearance.
std::vector<std::string> devices_of(const Ceilings& ceilings);

}  // namespace roof::analysis
