// The emulated GPUs in a libnvidia-ml.so.1: their memory, and a power that never changes. Temperature is not supported,
// nor are clocks, unless a test says what they are.
#include "tests/emulated_gpu/runtime/machine.hpp"
#include "tests/fakes/nvml/gpu.hpp"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace roof::fakes::nvml {

namespace {

constexpr unsigned milliwatts = 500'000;
constexpr double update_interval = 0.02;  ///< seconds between moves of the energy counter

/// Of the time up to the counter's last move.
unsigned long long millijoules()
{
    const double now = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    return static_cast<unsigned long long>(std::floor(now / update_interval) * update_interval * milliwatts);
}

/// In MHz, from ROOF_EMULATED_CLOCKS ("8,6": 8 of the first, 6 of the others); 0: not known.
unsigned clock_of(int gpu)
{
    const char* text = std::getenv("ROOF_EMULATED_CLOCKS");
    for (int number = 0; text != nullptr && number < gpu; ++number) {
        const char* const next = std::strchr(text, ',');
        if (next == nullptr) break;
        text = next + 1;
    }
    return text == nullptr ? 0 : static_cast<unsigned>(std::atoi(text));
}

nvmlDevice_st gpu(int number)
{
    constexpr unsigned long long software_power_cap = 4;
    char bus_id[32];
    cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), number);
    const unsigned clock = clock_of(number);
    const unsigned long long bytes = emulated::machine().device(number).card.memory_bytes;
    return {.bus_id = bus_id,
            .megahertz = clock,
            .memory_megahertz = clock,
            .milliwatts = milliwatts,
            .average_milliwatts = milliwatts,
            .instant_milliwatts = milliwatts,
            .limit_milliwatts = 700'000,
            .millijoules = millijoules,
            .reasons = clock < clock_of(0) ? software_power_cap : 0,
            .memory_bytes = bytes,
            .free_bytes = bytes};
}

}  // namespace

std::vector<nvmlDevice_st>& gpus()
{
    static std::vector<nvmlDevice_st> all = [] {
        std::vector<nvmlDevice_st> made;
        for (int number = 0; number < emulated::machine().count(); ++number) made.push_back(gpu(number));
        return made;
    }();
    return all;
}

const char* driver()
{
    const char* const asked = std::getenv("ROOF_EMULATED_DRIVER");
    return asked == nullptr ? "0.0 (emulated)" : asked;
}

}  // namespace roof::fakes::nvml
