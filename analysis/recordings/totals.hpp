// Totals of what was recorded beside the kernels of a run: calls of the host into the runtime and driver of a device
// (api.csv) by name, copies and fills (copies.csv) by kind and by the memory at both ends, with the measured ceiling of
// their link, and the memory of devices and host by its allocations and releases (memory.csv).
#pragma once

#include "ert/base/names.hpp"
#include "ert/base/units.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/recording/record_files.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// Purpose of a call. In `wait` the host waits until a device is done; that is not overhead of the call.
enum class CallPurpose { launch, wait, copy, allocate, event, other };

constexpr EnumNames<CallPurpose::other> names_of(CallPurpose)
{
    return {"purpose", {"launch", "wait", "copy", "allocate", "event", "other"}};
}

/// Classifies by the names of the CUDA runtime and driver, NCCL and their libraries. A synchronous copy is a copy.
CallPurpose purpose_of(std::string_view call);

struct CallTotal {
    std::string row;   ///< Measurement::id()
    std::string name;  ///< without the version that some recorders add: cudaLaunchKernel_v7000
    CallPurpose purpose = CallPurpose::other;
    std::size_t calls = 0;
    Seconds seconds;
    Seconds longest;
};

/// The calls of a results folder, longest first within each row; empty without api.csv. A driver call inside a runtime
/// call counts in both.
std::vector<CallTotal> add_up_calls(const RecordedFolder& folder);

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
