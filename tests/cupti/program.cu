// A plain CUDA program: copies, launches, copies back. It reports its first failure, and succeeds where there is a
// GPU.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <vector>

namespace {

__global__ void scale(float* values, int count)
{
    const int place = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (place < count) values[place] = 2 * values[place];
}

int failure(cudaError_t status)
{
    std::fprintf(stderr, "%s\n", cudaGetErrorName(status));
    return 4;
}

}  // namespace

int main()
{
    constexpr int count = 1 << 20;
    std::vector<float> values(count, 1);
    float* on_device = nullptr;
    if (const cudaError_t status = cudaMalloc(&on_device, count * sizeof(float)); status != cudaSuccess)
        return failure(status);
    cudaMemcpy(on_device, values.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    for (int step = 0; step < 10; ++step) scale<<<count / 256, 256>>>(on_device, count);
    cudaMemcpy(values.data(), on_device, count * sizeof(float), cudaMemcpyDeviceToHost);
    const cudaError_t status = cudaDeviceSynchronize();
    return status != cudaSuccess ? failure(status) : values[0] == 1024 ? 0 : 5;
}
