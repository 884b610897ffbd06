// The functions that every driver's NVML has.
#include "tests/fakes/nvml/gpu.hpp"

#include <cstring>

namespace roof::fakes::nvml {

namespace {
int initialised = 0;
}

int status_of(const nvmlDevice_st* device, const void* to)
{
    if (initialised == 0) return uninitialized;
    const std::vector<nvmlDevice_st>& all = gpus();
    if (to == nullptr || all.empty() || device < &all.front() || device > &all.back()) return invalid_argument;
    return device->is_lost ? gpu_is_lost : success;
}

}  // namespace roof::fakes::nvml

using namespace roof::fakes::nvml;

extern "C" {

int nvmlInit_v2()
{
    ++initialised;
    return success;
}

int nvmlShutdown()
{
    if (initialised == 0) return uninitialized;
    --initialised;
    return success;
}

int nvmlSystemGetDriverVersion(char* text, unsigned length)
{
    if (initialised == 0) return uninitialized;
    if (text == nullptr) return invalid_argument;
    if (length < std::strlen(driver()) + 1) return insufficient_size;
    std::strcpy(text, driver());
    return success;
}

/// The domain may have four digits or eight.
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, nvmlDevice_st** device)
{
    if (initialised == 0) return uninitialized;
    if (id == nullptr || device == nullptr) return invalid_argument;
    for (nvmlDevice_st& one : gpus()) {
        if (one.bus_id != id && one.bus_id != std::string("0000") + id) continue;
        *device = &one;
        return success;
    }
    return not_found;
}

int nvmlDeviceGetClockInfo(nvmlDevice_st* device, int type, unsigned* megahertz)
{
    if (type < 0 || type > 3) return initialised == 0 ? uninitialized : invalid_argument;
    if (type == 1 && status_of(device, megahertz) == success && device->slow_looks > 0) {
        --device->slow_looks;
        *megahertz = 1410;
        return success;
    }
    return give(device, megahertz, type == 2 ? &nvmlDevice_st::memory_megahertz : &nvmlDevice_st::megahertz, true);
}

int nvmlDeviceGetPowerUsage(nvmlDevice_st* device, unsigned* milliwatts)
{
    return give(device, milliwatts, &nvmlDevice_st::milliwatts);
}
}
