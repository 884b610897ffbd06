// What the driver says of a GPU while it works: clocks, power, temperature, and why it runs slower than it could. By
// NVML, the driver's own library, opened while the program runs; without it nothing is said, and everything else works.
// Read only: no setting of the card is touched.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/library.hpp"
#include "ert/method/bench/trace.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct nvmlDevice_st;

namespace roof::gpu {

/// One look at a GPU.
struct GpuState {
    Hertz clock;  ///< of the multiprocessors, as the driver says; some tens of milliseconds old
    Conditions conditions;
    unsigned long long slowdowns = 0;  ///< bits of NVML's clock event reasons
};

/// Why a launch under these reasons is no measure of the card: "the card was too hot", …; empty if it is one. A power
/// cap is not among them: it is what a card's heaviest work runs under for as long as it lasts.
std::string_view disturbance_in(unsigned long long slowdowns);

/// Whether the card kept its clock down for its power.
bool is_power_capped(unsigned long long slowdowns);

class Nvml {
  public:
    /// Null where the library is not there or does not start.
    static std::shared_ptr<const Nvml> open();

    /// `bus_id`: as cudaDeviceGetPCIBusId writes it. Null if NVML does not know the device.
    nvmlDevice_st* device(const std::string& bus_id) const;

    /// What cannot be read is 0.
    GpuState look(nvmlDevice_st* device) const;

    /// The highest clock that the multiprocessors may have; 0 if unknown.
    Hertz highest_clock(nvmlDevice_st* device) const;

    /// Of the driver: "580.159"; empty if unknown.
    std::string driver_version() const;

  private:
    explicit Nvml(Library library) : library_(library) {}

    Library library_;
};

}  // namespace roof::gpu
