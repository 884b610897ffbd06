// The records of a recorder, or of an importer of other tools' files: a struct for each kind. All but counters have a duration. `start`
// is on one clock for all records of a run, with an arbitrary zero; it may be unknown. Unknown values are empty, never 0. Layer and
// phase (data, forward, backward, update, synchronise) are those that made the call.
#pragma once

#include "ert/base/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roof {

enum class ApiDomain { runtime, driver };
/// Host and device; `peer` is from one device to another.
enum class CopyKind { host_to_device, device_to_host, device_to_device, peer, host_to_host, fill };
enum class MemoryKind { pageable, pinned, device, managed, pool };
enum class MemoryAction { allocate, release };
enum class RangeKind { step, phase, layer, nvtx };
enum class CounterScope { kernel, phase, step };

std::string_view name(ApiDomain domain);
std::string_view name(CopyKind kind);
std::string_view name(MemoryKind kind);
std::string_view name(MemoryAction action);
std::string_view name(RangeKind kind);
std::string_view name(CounterScope scope);

/// A number that names something: a stream, a correlation, a thread.
using Number = std::optional<std::uint64_t>;

/// Fields of most records. `correlation` joins a kernel or copy to the call that launched it.
struct Cause {
    std::string device;  ///< as Measurement::device: "gpu:0"
    Number stream;
    Number correlation;
    std::string layer;
    std::string phase;
};

/// kernels.csv: a line for each launch that ran on a device.
struct KernelRecord {
    Cause cause;
    std::string name;  ///< demangled
    std::optional<Seconds> start;
    Seconds duration;
    std::string grid;   ///< blocks, "64x1x1"
    std::string block;  ///< threads
    Number registers;   ///< of a thread
    std::optional<Bytes> shared;
    Number graph_node;  ///< of the CUDA graph it ran in
};

/// api.csv: a line for each call of the host into the runtime or the driver.
struct ApiRecord {
    Number thread;
    Number correlation;
    std::string layer;
    std::string phase;
    std::optional<ApiDomain> domain;
    std::string name;
    std::optional<Seconds> start;
    Seconds duration;
};

/// copies.csv: a line for each copy and each fill.
struct CopyRecord {
    Cause cause;
    CopyKind kind = CopyKind::device_to_device;
    std::optional<MemoryKind> source;
    std::optional<MemoryKind> destination;
    std::optional<Bytes> bytes;
    std::optional<Seconds> start;
    Seconds duration;
};

/// memory.csv: a line for each allocation and release; it takes no time of its own.
struct MemoryRecord {
    Cause cause;
    MemoryAction action = MemoryAction::allocate;
    std::optional<MemoryKind> memory;
    Number address;
    std::optional<Bytes> bytes;
    std::optional<Seconds> start;
};

/// synchronisations.csv: a line for each wait of the host, or of a stream, for a device.
struct SynchronisationRecord {
    Cause cause;
    std::string kind;  ///< event, stream wait, stream, context
    std::optional<Seconds> start;
    Seconds duration;
};

/// ranges.csv: a line for each named range of time: steps, phases, layers, and the program's own.
struct RangeRecord {
    Number thread;
    RangeKind kind = RangeKind::nvtx;
    std::string name;
    std::optional<Seconds> start;
    Seconds duration;
};

/// counters.csv: a line for each metric of a kernel's launch, of a phase or of a step.
struct CounterRecord {
    std::string device;
    CounterScope scope = CounterScope::kernel;
    std::string layer;
    std::string phase;
    std::string name;  ///< of the kernel
    Number launch;     ///< counted from 0 within the row and device
    std::string metric;
    double value = 0;
    std::string unit;  ///< FLOP, byte, s, Hz, …; SI, without prefix
};

}  // namespace roof
