// A second opinion on the traffic of device memory, from another counter than CUPTI's: NVML's GPM (from Hopper on) says which share of
// its bandwidth the memory was at work. It counts the whole card over tenths of a second, so launches are repeated meanwhile. Not yet
// run on hardware.
#pragma once

#include "ert/base/units.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/profiler.hpp"

#include <string>

namespace roof::cupti {

struct MemoryUse {
    double share = 0;      ///< of the memory's bandwidth, 0 to 1, on the average
    Seconds per_launch{};  ///< wall time
};

/// Of the CUDA device of that number, over launches of half a second and more. Throws Unsupported where there is no GPM.
MemoryUse memory_use(std::size_t device, const Launch& launch);

/// Bytes of a launch: the share of what the memory could move at its clock and width, two transfers per clock; 0 where the device does
/// not say these.
Bytes bytes_of(const MemoryUse& use, const Device& device);

/// "device memory moved 4.80 GB per launch by NVML's GPM: …".
std::string in_words(const MemoryUse& use, const Device& device);

}  // namespace roof::cupti
