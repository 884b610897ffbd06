// Reads a GPU's clocks, power, temperature and reasons for slowdowns from NVML, the driver's library. It is opened at
// run time; without it these are unknown, and everything else works. No setting of the card is changed.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/library.hpp"
#include "ert/method/bench/power.hpp"
#include "ert/method/bench/trace.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>

struct nvmlDevice_st;

namespace roof::gpu {

struct GpuState {
    Hertz clock;  ///< of the multiprocessors, by the driver; some tens of milliseconds old
    Conditions conditions;
    unsigned long long slowdowns = 0;  ///< bits of NVML's clock event reasons
};

/// Why a launch with these slowdowns is left out: "the card was too hot", …; empty if it counts. A power cap counts: it
/// is normal for a card's heaviest work.
std::string_view disturbance_in(unsigned long long slowdowns);

/// Reasons that this build does not know, as newer drivers may report; 0 if there are none.
unsigned long long unknown_in(unsigned long long slowdowns);

/// Whether the power cap held the clock down.
bool is_power_capped(unsigned long long slowdowns);

class Nvml {
  public:
    /// Null if the library is missing or does not start.
    static std::shared_ptr<const Nvml> open();
    /// The first of these libraries that loads.
    static std::shared_ptr<const Nvml> open(std::span<const std::string> names);

    /// `bus_id`: as cudaDeviceGetPCIBusId writes it. Null if NVML does not know the device.
    nvmlDevice_st* device(const std::string& bus_id) const;

    /// Values that cannot be read are 0.
    GpuState look(nvmlDevice_st* device) const;

    /// The energy counter (from Volta on), the power at this moment (from drivers of 2023 on) and the enforced limit.
    PowerReading power(nvmlDevice_st* device) const;

    /// The device memory that no process uses; 0 if unknown.
    Bytes free_memory(nvmlDevice_st* device) const;

    /// "580.159"; empty if unknown.
    std::string driver_version() const;

  private:
    explicit Nvml(Library library) : library_(library) {}

    Library library_;
};

}  // namespace roof::gpu
