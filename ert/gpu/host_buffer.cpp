#include "ert/gpu/host_buffer.hpp"

#include "ert/base/error.hpp"

namespace roof::gpu {

HostBuffer::HostBuffer(std::size_t bytes, Pages pages) : bytes_(bytes)
{
    if (pages == Pages::pageable) {
        pageable_ = std::make_unique<std::byte[]>(bytes);  // zeroed, so that every page exists
        return;
    }
    void* memory = nullptr;
    const cudaError_t status = cudaHostAlloc(&memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable);
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        throw OutOfMemory(Bytes{static_cast<double>(bytes)}, Bytes{}, "pinned host memory");
    }
    check(status);
    pinned_.reset(memory);
}

}  // namespace roof::gpu
