// The digests of a fleet, found in folders that anybody may have written: only regular files are read, no link is followed, and a folder
// that cannot be used is passed over (`roof fleet` names it).
#pragma once

#include "analysis/fleet/digest.hpp"

#include <filesystem>
#include <vector>

namespace roof::analysis {

struct Fleet {
    std::vector<Digest> digests;  ///< ordered by node and time
};

/// The digests in `folders`, down to six levels. Throws InputError for a folder that is none, and for more than 1,000,000 entries.
Fleet read_fleet(const std::vector<std::filesystem::path>& folders);

}  // namespace roof::analysis
