#include "ert/gpu/buffer.hpp"

#include "ert/base/error.hpp"

namespace roof::gpu {

namespace detail {

Memory allocate(std::size_t bytes, const std::string& what_for)
{
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        std::size_t available = 0;
        std::size_t total = 0;
        check(cudaMemGetInfo(&available, &total));
        throw OutOfMemory(Bytes{static_cast<double>(bytes)}, Bytes{static_cast<double>(available)}, what_for);
    }
    check(status);
    return Memory(memory);
}

void copy_in(void* device, const void* host, std::size_t bytes)
{
    check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    // From pageable memory the call may return before the last bytes have arrived, and our streams would not wait.
    check(cudaStreamSynchronize(nullptr));
}

void copy_out(void* host, const void* device, std::size_t bytes)
{
    check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

}  // namespace detail

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
