// The devices and what they are.
#include "tests/emulated_gpu/device/thread.hpp"
#include "tests/emulated_gpu/runtime/contexts.hpp"
#include "tests/emulated_gpu/runtime/machine.hpp"

#include <cuda.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace roof::emulated;

namespace roof::emulated {

cudaError_t make_context(int device)
{
    if (machine().contexts.contains(device)) return cudaSuccess;
    if (const char* const folder = std::getenv("ROOF_EMULATED_EXCLUSIVE"); folder != nullptr) {
        const std::string file = std::string(folder) + "/gpu" + std::to_string(device);
        const int lock = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);  // held until the process ends
        if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) != 0) {
            close(open((file + " refused").c_str(), O_WRONLY | O_CREAT, 0600));
            return cudaErrorDevicesUnavailable;
        }
    }
    machine().contexts.insert(device);
    return cudaSuccess;
}

}  // namespace roof::emulated

namespace {

bool is_there(int device)
{
    return device >= 0 && device < machine().count();
}

/// A thread has the context of its current device, if the process has made it.
CUresult current_context(CUcontext* context)
{
    const int device = current_device();
    *context = machine().contexts.contains(device) ? reinterpret_cast<CUcontext>(&machine().device(device)) : nullptr;
    return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result)
{
    *function = std::strcmp(symbol, "cuCtxGetCurrent") == 0 ? reinterpret_cast<void*>(&current_context) : nullptr;
    *result = *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count)
{
    *count = machine().count();
    if (std::getenv("ROOF_EMULATED_DRIVER") != nullptr) return returned(cudaErrorInsufficientDriver);
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
    return returned(make_context(device));
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
    properties->maxThreadsPerMultiProcessor = static_cast<int>(card.threads);
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
        case cudaDevAttrL2CacheSize:
            *value = static_cast<int>(card.l2_bytes);
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
