// The device's and the host's memory over a run, from the allocations and releases in memory.csv.
#pragma once

#include "ert/recording/records.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace roof::analysis {

struct MemoryPoint {
    Seconds at;
    Bytes held;
};

struct MemoryUse {
    std::string row;  ///< Measurement::id()
    std::string device;
    std::optional<MemoryKind> memory;
    std::size_t allocations = 0;
    std::size_t releases = 0;
    std::size_t unmatched = 0;  ///< releases of what was allocated before the recording, or whose size is unknown
    Bytes peak;                 ///< held at once, of what was allocated while recording
    Bytes left;                 ///< held at the end
    std::vector<MemoryPoint> timeline;  ///< in order of time; empty where records say no start
};

/// Of a results folder, the most bytes first within a row; empty without memory.csv.
std::vector<MemoryUse> follow_memory(const std::filesystem::path& folder);

}  // namespace roof::analysis
