// The bandwidth roof of a memory level for any mix of reads and writes. The model: the work runs as a sequence of the loops
// that were measured (loads, stores, non-temporal stores, copies, updates, …), and their times add up. The roof is the
// fastest sequence that reads and writes at least the bytes of the work. It never exceeds what the measured loops do
// together, and is exact at their own mixes; it does not know how far the reads and writes of other mixes overlap.
// docs/method.md, section 6, compares it with mixes that it was not derived from.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// The bytes that the instructions of an operation read and write, of each byte counted. They add up to 1.
struct Access {
    double read = 0;
    double written = 0;
};

/// nullopt for an operation whose reads and writes are not known.
std::optional<Access> access_of(std::string_view operation);

/// A measured loop of one level.
struct MeasuredAccess {
    std::string operation;
    Access access;
    ByteRate rate;
};

/// The ceilings of a level whose reads and writes are known, for a device and a thread count.
std::vector<MeasuredAccess> accesses_of(const Ceilings& ceilings, const std::string& device, const std::string& level,
                                        int threads);

struct MixRoof {
    ByteRate rate;  ///< of read and written bytes together
    std::string
        access;  ///< "load", "update" if one loop alone is fastest and has this mix, else "mix 2:1", reads first
};

/// nullopt if the measured loops cannot do the mix, or if nothing is read or written.
std::optional<MixRoof> mix_roof(const std::vector<MeasuredAccess>& measured, Bytes read, Bytes written);

}  // namespace roof::analysis
