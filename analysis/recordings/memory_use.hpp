// Memory of devices and host over a run, from the allocations and releases in memory.csv.
#pragma once

#include "ert/recording/record_files.hpp"

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
    std::size_t unmatched = 0;          ///< releases of memory of unknown size or allocated before the recording
    Bytes peak;                         ///< the most held at once, without memory allocated before the recording
    Bytes left;                         ///< held at the end
    std::vector<MemoryPoint> timeline;  ///< sorted by time; empty if records have no start
};

/// Memory use in a results folder, highest peak first within each row; empty without memory.csv.
std::vector<MemoryUse> follow_memory(const RecordedFolder& folder);

}  // namespace roof::analysis
