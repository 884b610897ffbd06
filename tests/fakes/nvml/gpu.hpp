// An NVML without GPUs that refuses what the real one does: calls before nvmlInit_v2 or after nvmlShutdown, null
// pointers, handles that it did not give, clocks and sensors that do not exist, text that does not fit. Codes and
// prototypes are those of nvml.h. Who links it says what GPUs there are.
#pragma once

#include <string>
#include <vector>

/// What is told of a GPU. 0 for a clock, a temperature or an average power: not supported.
struct nvmlDevice_st {
    std::string bus_id;
    unsigned megahertz = 0, memory_megahertz = 0;
    unsigned celsius = 0;
    unsigned milliwatts = 0, average_milliwatts = 0, instant_milliwatts = 0, limit_milliwatts = 0;
    unsigned long long (*millijoules)() = nullptr;
    unsigned long long reasons = 0;  ///< of a slowdown
    unsigned long long memory_bytes = 0, free_bytes = 0;
    bool is_lost = false;
    int slow_looks = 0;  ///< at the multiprocessors' clock, to come, that find 1,410 MHz
};

namespace roof::fakes::nvml {

enum Status {
    success = 0,
    uninitialized = 1,
    invalid_argument = 2,
    not_supported = 3,
    not_found = 6,
    insufficient_size = 7,
    gpu_is_lost = 15
};

/// Of the library that is built.
std::vector<nvmlDevice_st>& gpus();
const char* driver();

/// The status of a call on a device that writes to `to`.
int status_of(const nvmlDevice_st* device, const void* to);

/// Writes a member of the device.
template <class Value>
int give(const nvmlDevice_st* device, Value* to, Value nvmlDevice_st::*member, bool may_be_none = false)
{
    const int status = status_of(device, to);
    if (status != success) return status;
    if (may_be_none && device->*member == 0) return not_supported;
    *to = device->*member;
    return success;
}

}  // namespace roof::fakes::nvml
