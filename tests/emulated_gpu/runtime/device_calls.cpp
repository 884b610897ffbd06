// The devices and what they are.
#include "tests/emulated_gpu/runtime/machine.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace roof::emulated;

namespace {

bool is_there(int device)
{
    return device >= 0 && device < machine().count();
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count)
{
    *count = machine().count();
    return *count > 0 ? cudaSuccess : returned(cudaErrorNoDevice);
}
cudaError_t cudaGetDevice(int* device)
{
    *device = current_device();
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device)
{
    if (!is_there(device)) return returned(cudaErrorInvalidDevice);
    set_current_device(device);
    machine().contexts.insert(device);
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device)
{
    if (!is_there(device)) return returned(cudaErrorInvalidDevice);
    const Card& card = machine().device(device).card;
    *properties = {};
    std::snprintf(properties->name, sizeof(properties->name), "%s", card.name.c_str());
    properties->major = card.major;
    properties->minor = card.minor;
    properties->multiProcessorCount = card.multiprocessors;
    // Little, for sweeps go up to a part of it; cudaMemGetInfo() tells what there is.
    properties->totalGlobalMem = std::min(card.memory_bytes, std::size_t{32} << 20);
    properties->l2CacheSize = static_cast<int>(card.l2_bytes);
    properties->sharedMemPerMultiprocessor = card.l1_bytes;
    properties->sharedMemPerBlock = std::size_t{48} << 10;
    properties->sharedMemPerBlockOptin = card.shared_bytes - (std::size_t{1} << 10);
    properties->maxThreadsPerBlock = 1024;
    properties->maxThreadsPerMultiProcessor = 2048;
    properties->warpSize = 32;
    properties->unifiedAddressing = 1;
    properties->canMapHostMemory = 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device)
{
    if (!is_there(device)) return returned(cudaErrorInvalidDevice);
    const Card& card = machine().device(device).card;
    switch (which) {
        case cudaDevAttrClockRate:
            *value = static_cast<int>(card.clock_hz / 1e3);
            return cudaSuccess;
        case cudaDevAttrMemoryClockRate:
            *value = static_cast<int>(card.clock_hz / 1e3);
            return cudaSuccess;
        case cudaDevAttrGlobalMemoryBusWidth:
            // Two transfers in a clock.
            *value = static_cast<int>(card.memory_bytes_per_cycle * 8 / 2);
            return cudaSuccess;
        case cudaDevAttrMultiProcessorCount:
            *value = card.multiprocessors;
            return cudaSuccess;
        case cudaDevAttrComputeCapabilityMajor:
            *value = card.major;
            return cudaSuccess;
        case cudaDevAttrComputeCapabilityMinor:
            *value = card.minor;
            return cudaSuccess;
        default:
            return returned(cudaErrorNotSupported);
    }
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device)
{
    if (!is_there(device)) return returned(cudaErrorInvalidDevice);
    std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", device + 1);
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer)
{
    if (!is_there(device) || !is_there(peer)) return returned(cudaErrorInvalidDevice);
    *can = device != peer ? 1 : 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned)
{
    const std::lock_guard lock(machine().mutex());
    if (!is_there(peer) || peer == current_device()) return returned(cudaErrorInvalidDevice);
    const bool is_new = machine().device(current_device()).peers.insert(peer).second;
    return is_new ? cudaSuccess : returned(cudaErrorPeerAccessAlreadyEnabled);
}
}
