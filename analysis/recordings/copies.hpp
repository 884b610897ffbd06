// Copies and fills of a run, from copies.csv, summed by kind and by the memory at both ends, with the measured
// ceiling of their link.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/recording/record_files.hpp"

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
    std::size_t unsized = 0;  ///< copies of unknown size
    Bytes bytes;              ///< of copies of known size
    Bytes smallest;
    Bytes largest;
    Seconds seconds;        ///< time of all copies
    Seconds sized_seconds;  ///< time of copies of known size

    /// The copy rate; 0 if no size is known.
    ByteRate rate() const { return sized_seconds.value > 0 ? bytes / sized_seconds : ByteRate{}; }
};

/// The copies of a results folder, longest first within each row; empty without copies.csv.
std::vector<CopyTotal> add_up_copies(const RecordedFolder& folder);

/// The best rate of the benches `link` and `peer` for this kind of copy on this device. nullopt if it was not measured,
/// and for copies within one memory.
std::optional<ByteRate> link_ceiling(const CopyTotal& copies, std::span<const Measurement> calibration);

}  // namespace roof::analysis
