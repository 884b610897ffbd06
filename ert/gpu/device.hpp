// Finds the GPUs of this machine and describes them, or explains why there are none.
#pragma once

#include "ert/method/bench/power.hpp"

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

struct nvmlDevice_st;

namespace roof::gpu {

class Nvml;

/// The runtime's number of a device. A type of its own, so that it is not mistaken for a count.
struct DeviceId {
    int value = 0;
};

/// The number of a device named "gpu:N". Throws Error for other names.
DeviceId id_of(const Device& device);

/// Appends a device "gpu:N" for each GPU, and the capability "gpu" with reason and remedy. Does not throw if there is
/// no GPU. `nvml`, which may be null, reports the driver's version.
void describe_devices(Machine& machine, const Nvml* nvml);

/// "0000:3B:00.0". Throws Error.
std::string bus_id_of(DeviceId id);

/// The device as NVML knows it; null without NVML, or if it does not know it. Throws Error.
nvmlDevice_st* device_in(const Nvml* nvml, DeviceId id);

/// By NVML, which may be null.
PowerMeter power_meter(std::shared_ptr<const Nvml> nvml, const Device& device);

/// An attribute of a device from the runtime. Throws Error.
int attribute(DeviceId id, cudaDeviceAttr which);

/// Of the multiprocessors, as the runtime reports it. Throws Error.
Hertz highest_clock(DeviceId id);

/// Makes a device current during its own life, and restores the former one.
class CurrentDevice {
  public:
    /// Throws Error.
    explicit CurrentDevice(DeviceId id);
    ~CurrentDevice();
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

  private:
    int former_ = -1;  ///< none
};

}  // namespace roof::gpu
