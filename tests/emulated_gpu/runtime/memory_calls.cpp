// Memory and copies.
#include "tests/emulated_gpu/runtime/contexts.hpp"
#include "tests/emulated_gpu/runtime/machine.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

using namespace roof::emulated;

namespace {

constexpr int pageable = -2;  ///< the host's memory that no call of the runtime allocated

int owner_of(const void* memory, std::size_t bytes)
{
    const auto range =
        machine().memory().find(reinterpret_cast<std::uintptr_t>(memory), std::max<std::size_t>(bytes, 1));
    return range.begin < range.end ? range.device : pageable;
}

bool is_device(int owner)
{
    return owner >= 0;
}

/// Whether the kind of copy names what the pointers are.
bool agrees(cudaMemcpyKind kind, int to, int from)
{
    switch (kind) {
        case cudaMemcpyDefault:
            return true;
        case cudaMemcpyHostToDevice:
            return is_device(to) && !is_device(from);
        case cudaMemcpyDeviceToHost:
            return !is_device(to) && is_device(from);
        case cudaMemcpyDeviceToDevice:
            return is_device(to) && is_device(from);
        case cudaMemcpyHostToHost:
            return !is_device(to) && !is_device(from);
    }
    return false;
}

double seconds_of_copy(int device, int to, int from, std::size_t bytes)
{
    const Card& card = machine().device(device).card;
    const double per_cycle = is_device(to) && to == from ? card.memory_bytes_per_cycle / 2 : card.link_bytes_per_cycle;
    return (card.launch_cycles + static_cast<double>(bytes) / per_cycle) / card.clock_hz;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool is_async)
{
    const std::lock_guard lock(machine().mutex());
    if (bytes == 0) return cudaSuccess;
    const int target = owner_of(to, bytes);
    const int source = owner_of(from, bytes);
    if (!agrees(kind, target, source)) return cudaErrorInvalidValue;
    Stream& in = machine().stream(stream, current_device());
    // Of pageable memory the bytes are taken now, and to pageable memory the call waits, as the driver does. A call for
    // little of it, or for a copy within devices, may return before the copy is done.
    constexpr std::size_t little = std::size_t{64} << 10;
    const bool may_return = is_device(target) && (is_device(source) || (source == pageable && bytes <= little));
    const bool waits = target == pageable || (!is_async && !may_return);
    if (waits) {
        if (const cudaError_t error = machine().check_not_captured(in); error != cudaSuccess) return error;
    }
    std::shared_ptr<std::vector<std::byte>> staged;
    if (source == pageable && in.capture == nullptr) {
        staged = std::make_shared<std::vector<std::byte>>(bytes);
        std::memcpy(staged->data(), from, bytes);
    }
    const int device = in.device;
    const cudaError_t error = machine().enqueue(in, {[=](double& seconds) {
                                                    std::memmove(to, staged ? staged->data() : from, bytes);
                                                    seconds += seconds_of_copy(device, target, source, bytes);
                                                }});
    return error != cudaSuccess || !waits ? error : machine().finish(in);
}

cudaError_t set(void* to, int value, std::size_t bytes, cudaStream_t stream)
{
    const std::lock_guard lock(machine().mutex());
    if (!is_device(owner_of(to, bytes))) return cudaErrorInvalidValue;
    Stream& in = machine().stream(stream, current_device());
    const int device = in.device;
    return machine().enqueue(in, {[=](double& seconds) {
                                 std::memset(to, value, bytes);
                                 seconds += seconds_of_copy(device, device, device, bytes);
                             }});
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** memory, std::size_t bytes)
{
    const std::lock_guard lock(machine().mutex());
    const int device = current_device();
    if (machine().sticky(device) != cudaSuccess) return returned(machine().sticky(device));
    if (const cudaError_t error = make_context(device); error != cudaSuccess) return returned(error);
    *memory = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (machine().memory().allocated(device) + bytes > machine().device(device).card.memory_bytes)
        return returned(cudaErrorMemoryAllocation);
    *memory = machine().memory().allocate(bytes, device);
    if (const char* const file = std::getenv("ROOF_EMULATED_PEAK"); file != nullptr)
        std::ofstream(file + std::to_string(device)) << machine().memory().most_allocated(device);
    return cudaSuccess;
}

cudaError_t cudaFree(void* memory)
{
    const std::lock_guard lock(machine().mutex());
    if (memory == nullptr) return cudaSuccess;
    // Frees wait for the device, as the runtime's do.
    const int owner = owner_of(memory, 1);
    if (!is_device(owner)) return returned(cudaErrorInvalidValue);
    const cudaError_t error = machine().finish_device(owner);
    if (!machine().memory().free(memory)) return returned(cudaErrorInvalidValue);
    return returned(error);
}

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned)
{
    const std::lock_guard lock(machine().mutex());
    const cudaError_t sticky = machine().sticky(current_device());
    if (sticky != cudaSuccess) return returned(sticky);
    if (bytes > machine().most_pinned) return returned(cudaErrorMemoryAllocation);
    *memory = machine().memory().allocate(bytes, AddressSpace::host);
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory)
{
    const std::lock_guard lock(machine().mutex());
    if (memory == nullptr) return cudaSuccess;
    for (int device = 0; device < machine().count(); ++device) machine().finish_device(device);
    return returned(machine().memory().free(memory) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total)
{
    const std::lock_guard lock(machine().mutex());
    if (const cudaError_t error = make_context(current_device()); error != cudaSuccess) return returned(error);
    *total = machine().device(current_device()).card.memory_bytes;
    *available = *total - machine().memory().allocated(current_device());
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind)
{
    return returned(copy(to, from, bytes, kind, nullptr, false));
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    return returned(copy(to, from, bytes, kind, stream, true));
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes)
{
    return returned(set(to, value, bytes, nullptr));
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream)
{
    return returned(set(to, value, bytes, stream));
}
}
