// What nvcc's host code calls to name its kernels and to launch them.
#include "tests/emulated_gpu/runtime/machine.hpp"

#include <algorithm>
#include <cstring>

using namespace roof::emulated;

namespace {

constexpr u32 shared_without_asking = 48U << 10;
constexpr u32 most_threads = 1024;

struct Configuration {
    dim3 grid, block;
    std::size_t shared = 0;
    cudaStream_t stream = nullptr;
};
thread_local Configuration configuration;

/// The code of a kernel that the device can run.
cudaError_t code_of(const void* kernel, const Card& card, const KernelCode*& code)
{
    const auto name = machine().kernel_names.find(kernel);
    code = name == machine().kernel_names.end() ? nullptr : find_kernel(name->second);
    if (code == nullptr) return cudaErrorInvalidDeviceFunction;
    // What is translated from PTX of 8.0 stands for the code that a build for an older card has; that of one generation
    // for its members.
    constexpr int built_for_all = 80;
    const int here = 10 * card.major + card.minor;
    const bool fits = code->is_of_one_generation ? code->capability / 10 == card.major
                                                 : code->capability <= std::max(here, built_for_all);
    return fits ? cudaSuccess : cudaErrorNoKernelImageForDevice;
}

cudaError_t check_launch(const Launch& launch, const void* kernel)
{
    const u32 threads = launch.block.count();
    if (threads == 0 || threads > most_threads || launch.grid.count() == 0 || launch.block.z > 64)
        return cudaErrorInvalidConfiguration;
    if (launch.grid.y > 65535 || launch.grid.z > 65535) return cudaErrorInvalidConfiguration;
    if (launch.code->most_threads != 0 && threads > launch.code->most_threads) return cudaErrorInvalidConfiguration;
    const auto raised = machine().dynamic_shared_limits.find(kernel);
    const u32 limit = raised == machine().dynamic_shared_limits.end() ? shared_without_asking : raised->second;
    return launch.dynamic_shared > limit ? cudaErrorInvalidValue : cudaSuccess;
}

/// Blocks that a multiprocessor holds at once.
int resident_blocks(const KernelCode& code, const Card& card, int threads, std::size_t dynamic_shared)
{
    constexpr int most_blocks = 32;
    constexpr std::size_t shared_of_system = 1U << 10;
    const std::size_t shared = code.shared_bytes + dynamic_shared + shared_of_system;
    return std::min(
        {static_cast<int>(card.threads) / threads, most_blocks, static_cast<int>(card.shared_bytes / shared)});
}

cudaError_t check_cluster(const Launch& launch, const Card& card)
{
    constexpr u32 most = 8;  // without asking for more
    if (launch.cluster == 0 || launch.cluster > most || launch.grid.x % launch.cluster != 0)
        return cudaErrorInvalidClusterSize;
    const int resident =
        resident_blocks(*launch.code, card, static_cast<int>(launch.block.count()), launch.dynamic_shared);
    const bool fits = static_cast<int>(launch.cluster) <= resident * card.multiprocessors;
    return launch.cluster == 1 || fits ? cudaSuccess : cudaErrorInvalidClusterSize;
}

/// The only attribute that is known: blocks of a cluster, along x.
cudaError_t cluster_of(const cudaLaunchConfig_t& asked, u32& cluster)
{
    cluster = 1;
    for (unsigned i = 0; i < asked.numAttrs; ++i) {
        const cudaLaunchAttribute& attribute = asked.attrs[i];
        const auto& size = attribute.val.clusterDim;
        if (attribute.id != cudaLaunchAttributeClusterDimension || size.y != 1 || size.z != 1)
            return cudaErrorNotSupported;
        cluster = size.x;
    }
    return cudaSuccess;
}

cudaError_t launch_kernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                          cudaStream_t stream, u32 cluster = 1)
{
    const std::lock_guard lock(machine().mutex());
    Stream& in = machine().stream(stream, current_device());
    if (in.device != current_device()) return cudaErrorInvalidResourceHandle;
    Launch launch;
    if (const cudaError_t error = code_of(kernel, machine().device(in.device).card, launch.code); error != cudaSuccess)
        return error;
    launch.name = machine().kernel_names.at(kernel);
    const Dim& most = machine().most_blocks;
    launch.grid = {std::min(grid.x, most.x), std::min(grid.y, most.y), std::min(grid.z, most.z)};
    launch.block = {block.x, block.y, block.z};
    launch.dynamic_shared = static_cast<u32>(shared);
    launch.cluster = cluster;
    if (const cudaError_t error = check_launch(launch, kernel); error != cudaSuccess) return error;
    if (const cudaError_t error = check_cluster(launch, machine().device(in.device).card); error != cudaSuccess)
        return error;
    for (std::size_t i = 0; i < launch.code->arguments.size(); ++i) {
        const auto [offset, bytes] = launch.code->arguments[i];
        launch.arguments.resize(offset + bytes);
        std::memcpy(launch.arguments.data() + offset, arguments[i], bytes);
    }
    machine().launched.insert(known_name(launch.name));
    const int device = in.device;
    return machine().enqueue(in, {[device, launch = std::move(launch)](double& seconds) {
                                 ++machine().kernels_run;
                                 DeviceState& state = machine().device(device);
                                 state.seconds = std::max(state.seconds, seconds);
                                 Execution(machine().engine(), machine().memory(), state, launch).run();
                                 seconds = state.seconds;
                             }});
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void*)
{
    static void* handle = nullptr;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**)
{
    return 1;
}
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*, int*)
{
    machine().kernel_names[host] = name;
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, void* stream)
{
    configuration = {grid, block, shared, static_cast<cudaStream_t>(stream)};
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream)
{
    *grid = configuration.grid;
    *block = configuration.block;
    *shared = configuration.shared;
    *static_cast<cudaStream_t*>(stream) = configuration.stream;
    return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function)
{
    *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
    return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                               cudaStream_t stream)
{
    return returned(launch_kernel(kernel, grid, block, arguments, shared, stream));
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                             cudaStream_t stream)
{
    return returned(launch_kernel(kernel, grid, block, arguments, shared, stream));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* asked, const void* kernel, void** arguments)
{
    u32 cluster = 1;
    if (const cudaError_t error = cluster_of(*asked, cluster); error != cudaSuccess) return returned(error);
    return returned(launch_kernel(kernel, asked->gridDim, asked->blockDim, arguments, asked->dynamicSmemBytes,
                                  asked->stream, cluster));
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel, const cudaLaunchConfig_t* asked)
{
    const std::lock_guard lock(machine().mutex());
    const Card& card = machine().device(current_device()).card;
    const KernelCode* code = nullptr;
    u32 cluster = 1;
    if (const cudaError_t error = cluster_of(*asked, cluster); error != cudaSuccess) return returned(error);
    if (const cudaError_t error = code_of(kernel, card, code); error != cudaSuccess) return returned(error);
    const dim3 block = asked->blockDim;
    const int resident =
        resident_blocks(*code, card, static_cast<int>(block.x * block.y * block.z), asked->dynamicSmemBytes);
    *clusters = resident * card.multiprocessors / static_cast<int>(cluster);
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute which, int value)
{
    const std::lock_guard lock(machine().mutex());
    const KernelCode* code = nullptr;
    const Card& card = machine().device(current_device()).card;
    const cudaError_t error = code_of(kernel, card, code);
    if (error != cudaSuccess) return returned(error);
    if (which != cudaFuncAttributeMaxDynamicSharedMemorySize) return returned(cudaErrorNotSupported);
    if (value < 0 || static_cast<u32>(value) + code->shared_bytes > card.shared_bytes)
        return returned(cudaErrorInvalidValue);
    machine().dynamic_shared_limits[kernel] = static_cast<u32>(value);
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads,
                                                          std::size_t dynamic_shared)
{
    const std::lock_guard lock(machine().mutex());
    const KernelCode* code = nullptr;
    const Card& card = machine().device(current_device()).card;
    const cudaError_t error = code_of(kernel, card, code);
    if (error != cudaSuccess) return returned(error);
    *blocks = resident_blocks(*code, card, threads, dynamic_shared);
    return cudaSuccess;
}

/// What the C++ template of the header calls.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int threads,
                                                                   std::size_t dynamic_shared, unsigned)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, dynamic_shared);
}
}
