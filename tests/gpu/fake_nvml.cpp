// An NVML without GPUs that refuses what the real one does: calls before nvmlInit_v2 or after nvmlShutdown, null pointers,
// handles it did not give, clocks and sensors that do not exist, text that does not fit. Codes are those of nvml.h.
#include <cstring>
#include <string>

struct nvmlDevice_st {
    bool is_lost = false;
};

namespace {

constexpr int success = 0;
constexpr int uninitialized = 1;
constexpr int invalid_argument = 2;
constexpr int not_found = 6;
constexpr int insufficient_size = 7;
constexpr int gpu_is_lost = 15;

constexpr const char* bus_id = "00000000:01:00.0";
constexpr const char* driver = "580.159.04";

int initialised = 0;
nvmlDevice_st only;

/// The status of a call on a device that writes to `to`.
int status_of(const nvmlDevice_st* device, const void* to)
{
    if (initialised == 0) return uninitialized;
    if (device != &only || to == nullptr) return invalid_argument;
    return only.is_lost ? gpu_is_lost : success;
}

template <class Value>
int give(const nvmlDevice_st* device, Value* to, Value value)
{
    const int status = status_of(device, to);
    if (status == success) *to = value;
    return status;
}

}  // namespace

extern "C" {

void fake_nvml_lose_gpu(bool is_lost)
{
    only.is_lost = is_lost;
}

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
    if (length < std::strlen(driver) + 1) return insufficient_size;
    std::strcpy(text, driver);
    return success;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* id, nvmlDevice_st** device)
{
    if (initialised == 0) return uninitialized;
    if (id == nullptr || device == nullptr) return invalid_argument;
    // The domain may have four digits or eight.
    if (std::string("0000") + id != bus_id && id != std::string(bus_id)) return not_found;
    *device = &only;
    return success;
}

int nvmlDeviceGetClockInfo(nvmlDevice_st* device, int type, unsigned* megahertz)
{
    if (type < 0 || type > 3) return initialised == 0 ? uninitialized : invalid_argument;
    return give(device, megahertz, type == 2 ? 2619U : 1755U);
}

int nvmlDeviceGetPowerUsage(nvmlDevice_st* device, unsigned* milliwatts)
{
    return give(device, milliwatts, 312500U);
}
}
