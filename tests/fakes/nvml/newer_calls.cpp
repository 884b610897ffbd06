// The functions that a driver's NVML may lack.
#include "tests/fakes/nvml/gpu.hpp"

#include <chrono>

using namespace roof::fakes::nvml;

struct nvmlMemory {
    unsigned long long total, free, used;
};

struct nvmlFieldValue {
    unsigned field, scope;
    long long timestamp, microseconds;
    unsigned type;
    int status;
    union {
        double real;
        unsigned number;
        unsigned long long longest;
    } value;
};

extern "C" {

/// The name that newer drivers have for the reasons of a slowdown.
int nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_st* device, unsigned long long* reasons)
{
    return give(device, reasons, &nvmlDevice_st::reasons);
}

int nvmlDeviceGetTemperature(nvmlDevice_st* device, int sensor, unsigned* celsius)
{
    const int status = give(device, celsius, &nvmlDevice_st::celsius, true);
    return status == success && sensor != 0 ? invalid_argument : status;
}

/// Millijoules since the driver was loaded, from Volta on.
int nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_st* device, unsigned long long* energy)
{
    const int status = status_of(device, energy);
    if (status == success) *energy = device->millijoules();
    return status;
}

int nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_st* device, unsigned* limit)
{
    return give(device, limit, &nvmlDevice_st::limit_milliwatts);
}

/// Succeeds where it could look; each value has a status of its own, and is undefined unless that is success.
int nvmlDeviceGetFieldValues(nvmlDevice_st* device, int count, nvmlFieldValue* values)
{
    constexpr unsigned power_average = 185;
    constexpr unsigned power_instant = 186;
    constexpr unsigned undefined = 77;
    const int status = status_of(device, values);
    if (status != success) return status;
    if (count != 1) return invalid_argument;  // the program asks for one
    for (int i = 0; i < count; ++i) {
        nvmlFieldValue& value = values[i];
        const unsigned power = value.field == power_instant   ? device->instant_milliwatts
                               : value.field == power_average ? device->average_milliwatts
                                                              : 0;
        value.status = power == 0 ? not_supported : value.scope > 1 ? invalid_argument : success;
        value.timestamp =
            std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
                .count();
        value.type = 1;  // unsigned
        value.value.number = value.status == success ? power : undefined;
    }
    return success;
}

int nvmlDeviceGetMemoryInfo(nvmlDevice_st* device, nvmlMemory* memory)
{
    const int status = status_of(device, memory);
    if (status == success)
        *memory = {device->memory_bytes, device->free_bytes, device->memory_bytes - device->free_bytes};
    return status;
}
}
