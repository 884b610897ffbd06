// The prototypes are those of nvml.h, which CUDA toolkits may lack; NVML keeps them stable across drivers.
#include "ert/gpu/nvml.hpp"

#include "ert/base/error.hpp"

#include <array>

namespace roof::gpu {

namespace {

using NvmlDevice = nvmlDevice_st*;

constexpr int success = 0;
constexpr int clock_of_multiprocessors = 1;
constexpr int clock_of_memory = 2;
constexpr int sensor_of_gpu = 0;

/// nvmlClocksEventReason*, formerly nvmlClocksThrottleReason*.
constexpr unsigned long long idle = 0x1;
constexpr unsigned long long set_by_application = 0x2;
constexpr unsigned long long software_power_cap = 0x4;
constexpr unsigned long long hardware_slowdown = 0x8;
constexpr unsigned long long sync_boost = 0x10;
constexpr unsigned long long software_thermal = 0x20;
constexpr unsigned long long hardware_thermal = 0x40;
constexpr unsigned long long power_brake = 0x80;
constexpr unsigned long long set_by_display = 0x100;

struct Reason {
    unsigned long long bits;
    std::string_view words;
};

constexpr std::array<Reason, 4> disturbances{{
    {software_thermal | hardware_thermal, "the card was too hot"},
    {power_brake, "the power supply braked the card"},
    {hardware_slowdown, "the hardware slowed the card"},
    {sync_boost, "the card waited for another's clock"},
}};

/// What a call with one unsigned result says; 0 if it fails, or the driver has no such function.
template <class Number = unsigned, class... Arguments>
Number number(const Library& library, const char* name, Arguments... arguments)
{
    Number value = 0;
    const auto call = library.find<int(Arguments..., Number*)>(name);
    return call != nullptr && call(arguments..., &value) == success ? value : 0;
}

/// Under the name that newer drivers have for it, or the older one.
unsigned long long slowdowns(const Library& library, NvmlDevice device)
{
    using Bits = unsigned long long;
    const Bits bits = number<Bits>(library, "nvmlDeviceGetCurrentClocksEventReasons", device);
    return bits != 0 ? bits : number<Bits>(library, "nvmlDeviceGetCurrentClocksThrottleReasons", device);
}

Hertz megahertz(unsigned value)
{
    return {1e6 * value};
}

}  // namespace

std::string_view disturbance_in(unsigned long long slowdowns)
{
    for (const Reason& reason : disturbances) {
        if ((slowdowns & reason.bits) != 0) return reason.words;
    }
    return {};
}

unsigned long long unknown_in(unsigned long long slowdowns)
{
    unsigned long long known = idle | set_by_application | software_power_cap | set_by_display;
    for (const Reason& reason : disturbances) known |= reason.bits;
    return slowdowns & ~known;
}

bool is_power_capped(unsigned long long slowdowns)
{
    return (slowdowns & software_power_cap) != 0;
}

std::shared_ptr<const Nvml> Nvml::open()
{
    const std::array<std::string, 4> names{"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
                                           "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
                                           "/usr/lib64/libnvidia-ml.so.1"};
    return open(names);
}

std::shared_ptr<const Nvml> Nvml::open(std::span<const std::string> names)
{
    const std::optional<Library> library = Library::open(names);
    if (!library) return nullptr;
    try {
        if (library->function<int()>("nvmlInit_v2")() != success) return nullptr;
    } catch (const Unsupported&) {
        return nullptr;
    }
    return std::shared_ptr<const Nvml>(new Nvml(*library));
}

nvmlDevice_st* Nvml::device(const std::string& bus_id) const
{
    NvmlDevice device = nullptr;
    const auto find = library_.find<int(const char*, NvmlDevice*)>("nvmlDeviceGetHandleByPciBusId_v2");
    return find != nullptr && find(bus_id.c_str(), &device) == success ? device : nullptr;
}

GpuState Nvml::look(nvmlDevice_st* device) const
{
    GpuState state;
    state.clock = megahertz(number(library_, "nvmlDeviceGetClockInfo", device, clock_of_multiprocessors));
    state.conditions.memory_clock = megahertz(number(library_, "nvmlDeviceGetClockInfo", device, clock_of_memory));
    state.conditions.watts = 1e-3 * number(library_, "nvmlDeviceGetPowerUsage", device);
    state.conditions.celsius = number(library_, "nvmlDeviceGetTemperature", device, sensor_of_gpu);
    state.slowdowns = slowdowns(library_, device);
    return state;
}

PowerReading Nvml::power(nvmlDevice_st* device) const
{
    struct Field {  // nvmlFieldValue_t of NVML_FI_DEV_POWER_INSTANT; scope 0 is the GPU, 1 a module with its CPU
        unsigned field = 186, scope = 0;
        long long timestamp{}, age{};
        unsigned type{};
        int status{};
        unsigned long long value{};  // a union, of which an unsigned number (type 1) fills the first four bytes
    } instant;
    const auto call = library_.find<int(NvmlDevice, int, Field*)>("nvmlDeviceGetFieldValues");
    const bool knows = call != nullptr && call(device, 1, &instant) == success && instant.status == success;
    constexpr double milli = 1e-3;
    using Count = unsigned long long;
    const auto counted = static_cast<double>(number<Count>(library_, "nvmlDeviceGetTotalEnergyConsumption", device));
    return {milli * counted,
            {knows && instant.type == 1 ? milli * static_cast<unsigned>(instant.value) : 0},
            {milli * number(library_, "nvmlDeviceGetEnforcedPowerLimit", device)}};
}

Bytes Nvml::free_memory(NvmlDevice device) const
{
    struct Memory {  // nvmlMemory_t
        unsigned long long total, free, used;
    } memory{};
    const auto call = library_.find<int(NvmlDevice, Memory*)>("nvmlDeviceGetMemoryInfo");
    return call != nullptr && call(device, &memory) == success ? Bytes{static_cast<double>(memory.free)} : Bytes{};
}

std::string Nvml::driver_version() const
{
    std::array<char, 96> text{};
    const auto version = library_.find<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
    return version != nullptr && version(text.data(), text.size()) == success ? text.data() : "";
}

}  // namespace roof::gpu
