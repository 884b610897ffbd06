// Contexts of the process on the emulated devices.
#pragma once

#include <cuda_runtime_api.h>

namespace roof::emulated {

/// Makes the process's context on the device, if it has none. With ROOF_EMULATED_EXCLUSIVE, a folder, one process at a
/// time may have one (compute mode EXCLUSIVE_PROCESS): cudaErrorDevicesUnavailable, and a file there that says so.
cudaError_t make_context(int device);

}  // namespace roof::emulated
