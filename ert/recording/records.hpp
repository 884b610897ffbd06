// The records of a recorder or an importer, one struct per kind. All but counters have a duration. `start` is on one
// clock for all records of a run, with an arbitrary zero; it may be unknown. Unknown values are empty, never 0. Layer
// and phase (data, forward, backward, update, synchronise) are those in which the call was made.
#pragma once

#include "ert/base/names.hpp"
#include "ert/base/units.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roof {

enum class ApiDomain { runtime, driver };
/// Host and device; `peer`: between two devices.
enum class CopyKind { host_to_device, device_to_host, device_to_device, peer, host_to_host, fill };
enum class MemoryKind { pageable, pinned, device, managed, pool };
enum class MemoryAction { allocate, release };
enum class RangeKind { step, phase, layer, nvtx };
enum class CounterScope { kernel, phase, step };

/// In the files.
constexpr EnumNames<ApiDomain::driver> names_of(ApiDomain)
{
    return {"kind of API", {"runtime", "driver"}};
}
constexpr EnumNames<CopyKind::fill> names_of(CopyKind)
{
    return {"kind of copy", {"H2D", "D2H", "D2D", "P2P", "H2H", "memset"}};
}
constexpr EnumNames<MemoryKind::pool> names_of(MemoryKind)
{
    return {"kind of memory", {"pageable", "pinned", "device", "managed", "pool"}};
}
constexpr EnumNames<MemoryAction::release> names_of(MemoryAction)
{
    return {"action", {"allocate", "free"}};
}
constexpr EnumNames<RangeKind::nvtx> names_of(RangeKind)
{
    return {"kind of range", {"step", "phase", "layer", "nvtx"}};
}
constexpr EnumNames<CounterScope::step> names_of(CounterScope)
{
    return {"scope", {"kernel", "phase", "step"}};
}

/// The number of a stream, a correlation or a thread.
using Number = std::optional<std::uint64_t>;

/// Fields common to most records. `correlation` joins a kernel or copy to the call that launched it.
struct Cause {
    std::string device;  ///< as Measurement::device: "gpu:0"
    Number stream;
    Number correlation;
    std::string layer;
    std::string phase;
};

/// kernels.csv: one line per kernel launch on a device.
struct KernelRecord {
    Cause cause;
    std::string name;  ///< demangled
    std::optional<Seconds> start;
    Seconds duration;
    std::string grid;   ///< blocks, "64x1x1"
    std::string block;  ///< threads
    Number registers;   ///< per thread
    std::optional<Bytes> shared;
    Number graph_node;  ///< of the CUDA graph it ran in
};

/// api.csv: one line per runtime or driver call of the host.
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

/// copies.csv: one line per copy or fill.
struct CopyRecord {
    Cause cause;
    CopyKind kind = CopyKind::device_to_device;
    std::optional<MemoryKind> source;
    std::optional<MemoryKind> destination;
    std::optional<Bytes> bytes;
    std::optional<Seconds> start;
    Seconds duration;
};

/// memory.csv: one line per allocation or release. These records have no duration of their own.
struct MemoryRecord {
    Cause cause;
    MemoryAction action = MemoryAction::allocate;
    std::optional<MemoryKind> memory;
    Number address;
    std::optional<Bytes> bytes;
    std::optional<Seconds> start;
};

/// synchronisations.csv: one line per wait of the host, or of a stream, for a device.
struct SynchronisationRecord {
    Cause cause;
    std::string kind;  ///< event, stream wait, stream, context
    std::optional<Seconds> start;
    Seconds duration;
};

/// ranges.csv: one line per named range of time: steps, phases, layers, and the program's ranges.
struct RangeRecord {
    Number thread;
    RangeKind kind = RangeKind::nvtx;
    std::string name;
    std::optional<Seconds> start;
    Seconds duration;
};

/// counters.csv: one line per metric of a kernel launch, a phase or a step.
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

// The meaning of the names of programs' ranges and calls, for the recorder and for files of other tools
// (range_names.cpp).

/// The phase of a range: forward, backward, update, data, synchronise; empty if none. Knows the names of PyTorch's
/// ranges ("Optimizer.step#SGD.step", "autograd::engine::…") and common words.
std::string_view phase_in(std::string_view name);

/// The kind of a range: a step ("step 12", "ProfilerStep#3", "iteration", with nothing after), a phase, or other.
RangeKind kind_in(std::string_view name);

/// The name of a call without the version and the kind of default stream that recorders add:
/// "cudaLaunchKernel_ptsz_v7000" -> "cudaLaunchKernel", "cuMemAlloc_v2" -> "cuMemAlloc".
std::string plain_api_name(std::string name);

}  // namespace roof
