// The GPUs of this machine: found, described as devices of the machine, or their absence explained.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <cuda_runtime_api.h>

namespace roof::gpu {

class Nvml;

/// The runtime's number of a device; not an int, so that it is never mistaken for a count or a stream's priority.
struct DeviceId {
    int value = 0;
};

/// Of a device named "gpu:N". Throws Error for any other name.
DeviceId id_of(const Device& device);

/// Appends a device "gpu:N" for each GPU and the capability "gpu" with its reason and remedy; never throws for a
/// machine that has none. `nvml`, which may be null, tells the driver's version.
void describe_devices(Machine& machine, const Nvml* nvml);

/// A fact of a device as the runtime reports it. Throws Error.
int attribute(DeviceId id, cudaDeviceAttr which);

/// Makes a device current for its own life, and the former one again afterwards.
class CurrentDevice {
  public:
    /// Throws Error.
    explicit CurrentDevice(DeviceId id);
    ~CurrentDevice();
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

  private:
    int former_ = 0;
};

}  // namespace roof::gpu
