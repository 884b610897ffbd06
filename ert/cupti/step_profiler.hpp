// The profiler of our own launches: kernels with their layer and phase, launches as steps, and counters of both.
#pragma once

#include "ert/base/units.hpp"
#include "ert/counters/counter_table.hpp"
#include "ert/cupti/range_profiler.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/profiler.hpp"

#include <functional>
#include <memory>
#include <string>

namespace roof::cupti {

/// For devices "gpu:N". Its attach() throws Unsupported if CUPTI is missing.
Profiler step_profiler(const CounterTable& table);

/// The same with a CUPTI already opened; `context` returns the context of the launches.
Profile profile_with(std::shared_ptr<const Cupti> cupti, const CounterTable& table, const Device& device,
                     const std::vector<TimedPart>& parts, std::function<CUcontext()> context = current_context);

// The traffic of device memory by a counter that is independent of CUPTI (memory_use.cpp): NVML's GPM (since Hopper)
// reports the share of the memory's bandwidth in use. It counts the whole card over tenths of a second, so launches are
// repeated for that long.

struct MemoryUse {
    double share = 0;      ///< mean share of the memory's bandwidth, 0 to 1
    Seconds per_launch{};  ///< wall time
};

/// Repeats the launch on that CUDA device for at least half a second. Throws Unsupported where there is no GPM.
MemoryUse memory_use(std::size_t device, const Launch& launch);

/// Of a launch: the share times what the memory moves at its clock and width; 0 if the device reports neither.
Bytes bytes_of(const MemoryUse& use, const Device& device);

/// Throws Unsupported if fewer bytes than the compulsory ones would have moved: GPM misses a part of short launches.
void require_bytes(const MemoryUse& use, const Device& device, Bytes compulsory);

/// "device memory moved 4.80 GB per launch by NVML's GPM: …".
std::string describe(const MemoryUse& use, const Device& device);

}  // namespace roof::cupti
