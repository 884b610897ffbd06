// Copies and fills of a run, added up by kind and by the memory at both ends, from copies.csv, beside the measured ceiling of
// the link they went over.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/recording/records.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace roof::analysis {

struct CopyTotal {
    std::string row;  ///< Measurement::id()
    std::string device;
    CopyKind kind = CopyKind::device_to_device;
    std::optional<MemoryKind> source;
    std::optional<MemoryKind> destination;
    std::size_t copies = 0;
    std::size_t unsized = 0;  ///< of them, those whose bytes are not known
    Bytes bytes;              ///< of those whose bytes are known
    Bytes smallest;
    Bytes largest;
    Seconds seconds;        ///< of all
    Seconds sized_seconds;  ///< of those whose bytes are known

    /// 0 where no bytes are known.
    ByteRate rate() const { return sized_seconds.value > 0 ? bytes / sized_seconds : ByteRate{}; }
};

/// Of a results folder: of each row the most seconds first; empty without copies.csv.
std::vector<CopyTotal> add_up_copies(const std::filesystem::path& folder);

/// The best rate that the benches `link` and `peer` reached for copies of this kind on that device; none if it was not measured,
/// and for copies within one memory.
std::optional<ByteRate> link_ceiling(const CopyTotal& copies, std::span<const Measurement> calibration);

}  // namespace roof::analysis
