// The roofs a point stands under: of all ceilings of a device, the best one of each memory level and of each precision,
// at one thread count.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"

#include <string>
#include <vector>

namespace roof::analysis {

/// Points into the Ceilings it was made from, which must outlive it.
struct Roofs {
    std::string device;
    int threads = 0;                      ///< of the ceilings below; 0 if there are none
    std::vector<const Ceiling*> levels;   ///< one per memory level, nearest to the core first
    std::vector<const Ceiling*> compute;  ///< of multiply-adds, one per precision, highest first
    std::vector<const Ceiling*> mixes;    ///< the best mix of a precision, where it lies above its multiply-adds

    /// Null if that precision was not measured at this thread count.
    const Ceiling* precision(const std::string& name) const;
    bool empty() const { return levels.empty() && compute.empty(); }
};

/// At `threads` if any ceiling of the device was measured so; else at the most threads there are.
Roofs roofs_of(const Ceilings& ceilings, const std::string& device, int threads);
/// At the most threads.
Roofs roofs_of(const Ceilings& ceilings, const std::string& device);

/// In order of appearance.
std::vector<std::string> devices_of(const Ceilings& ceilings);

}  // namespace roof::analysis
