// A libnvidia-ml.so.1 for the emulated GPUs: their memory, and a power that never changes. Refuses what the real one refuses, with the codes
// and prototypes of nvml.h. Temperature is not supported, nor are clocks, unless a test says what they are.
#include "tests/emulated_gpu/runtime/machine.hpp"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

struct nvmlDevice_st {
    int number = 0;
};

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

namespace {

enum Status { success = 0, uninitialized = 1, invalid_argument = 2, not_supported = 3, not_found = 6, too_short = 7 };

constexpr unsigned power_average = 185;
constexpr unsigned power_instant = 186;
constexpr unsigned type_unsigned = 1;
constexpr unsigned milliwatts = 500'000;
constexpr unsigned limit_milliwatts = 700'000;
constexpr double update_interval = 0.02;  ///< seconds between moves of the energy counter
constexpr const char* driver = "0.0 (emulated)";

int initialised = 0;

std::vector<nvmlDevice_st>& devices()
{
    static std::vector<nvmlDevice_st> all = [] {
        std::vector<nvmlDevice_st> made(static_cast<std::size_t>(roof::emulated::machine().count()));
        for (std::size_t i = 0; i < made.size(); ++i) made[i].number = static_cast<int>(i);
        return made;
    }();
    return all;
}

double seconds_now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool is_ours(const nvmlDevice_st* device)
{
    return !devices().empty() && device >= &devices().front() && device <= &devices().back();
}

/// In MHz, from ROOF_EMULATED_CLOCKS ("8,6": 8 of the first, 6 of the others); 0: not known.
unsigned clock_of(const nvmlDevice_st& device)
{
    const char* text = std::getenv("ROOF_EMULATED_CLOCKS");
    for (int number = 0; text != nullptr && number < device.number; ++number) {
        const char* const next = std::strchr(text, ',');
        if (next == nullptr) break;
        text = next + 1;
    }
    return text == nullptr ? 0 : static_cast<unsigned>(std::atoi(text));
}

template <class Value>
int give(const nvmlDevice_st* device, Value* to, Value value)
{
    if (initialised == 0) return uninitialized;
    if (!is_ours(device) || to == nullptr) return invalid_argument;
    *to = value;
    return success;
}

}  // namespace

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
    if (length < std::strlen(driver) + 1) return too_short;
    std::strcpy(text, driver);
    return success;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* id, nvmlDevice_st** device)
{
    if (initialised == 0) return uninitialized;
    if (id == nullptr || device == nullptr) return invalid_argument;
    for (nvmlDevice_st& one : devices()) {
        char known[32];
        cudaDeviceGetPCIBusId(known, sizeof(known), one.number);
        if (std::string(id) != known) continue;
        *device = &one;
        return success;
    }
    return not_found;
}

int nvmlDeviceGetClockInfo(nvmlDevice_st* device, int, unsigned* megahertz)
{
    const unsigned clock = is_ours(device) ? clock_of(*device) : 0;
    const int status = give(device, megahertz, clock);
    return status == success && clock == 0 ? not_supported : status;
}

int nvmlDeviceGetTemperature(nvmlDevice_st* device, int, unsigned* celsius)
{
    const int status = give(device, celsius, 0U);
    return status == success ? not_supported : status;
}

/// The power cap, of a GPU with a lower clock than the first.
int nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_st* device, unsigned long long* reasons)
{
    constexpr unsigned long long software_power_cap = 4;
    const bool is_capped = is_ours(device) && clock_of(*device) < clock_of(devices().front());
    return give(device, reasons, is_capped ? software_power_cap : 0ULL);
}

int nvmlDeviceGetMemoryInfo(nvmlDevice_st* device, nvmlMemory* memory)
{
    if (initialised == 0) return uninitialized;
    if (!is_ours(device) || memory == nullptr) return invalid_argument;
    const unsigned long long bytes = roof::emulated::machine().device(device->number).card.memory_bytes;
    *memory = {bytes, bytes, 0};
    return success;
}

int nvmlDeviceGetPowerUsage(nvmlDevice_st* device, unsigned* power)
{
    return give(device, power, milliwatts);
}

int nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_st* device, unsigned* limit)
{
    return give(device, limit, limit_milliwatts);
}

/// Millijoules of the time up to its last move.
int nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_st* device, unsigned long long* energy)
{
    const double moves = std::floor(seconds_now() / update_interval);
    return give(device, energy, static_cast<unsigned long long>(moves * update_interval * milliwatts));
}

int nvmlDeviceGetFieldValues(nvmlDevice_st* device, int count, nvmlFieldValue* values)
{
    if (initialised == 0) return uninitialized;
    if (!is_ours(device) || values == nullptr || count < 1) return invalid_argument;
    for (int i = 0; i < count; ++i) {
        nvmlFieldValue& value = values[i];
        const bool is_power = value.field == power_average || value.field == power_instant;
        value.status = !is_power ? not_supported : value.scope > 1 ? invalid_argument : success;
        value.timestamp = static_cast<long long>(1e6 * seconds_now());
        value.type = type_unsigned;
        value.value.number = milliwatts;
    }
    return success;
}
}
