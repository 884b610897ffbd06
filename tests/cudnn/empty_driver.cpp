// A libcuda.so.1 that loads every module and runs none: what cuDNN asks of the driver before it compiles a kernel.
// Prints a hash of each module's machine code, and the kernels' names. The last two functions are of a libcudart, which
// cudnn-frontend opens.
#include <elf.h>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

std::array<int, 64> something{};

int give(void** made)
{
    *made = something.data();
    return 0;
}

int load(void** made, const void* code)
{
    const auto& header = *static_cast<const Elf64_Ehdr*>(code);
    const std::uint64_t size = header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (std::uint64_t k = 0; k < size; ++k)
        hash = (hash ^ static_cast<const unsigned char*>(code)[k]) * 0x100000001B3U;
    std::printf("code %016lx\n", static_cast<unsigned long>(hash));
    return give(made);
}

}  // namespace

extern "C" {

int cuInit(unsigned)
{
    return 100;  // there is no device
}
int cuDriverGetVersion(int* version)
{
    *version = 13000;
    return 0;
}
int cuGetErrorString(int, const char** text)
{
    *text = "an error of the empty driver";
    return 0;
}
int cuGetErrorName(int error, const char** text)
{
    return cuGetErrorString(error, text);
}
int cuLibraryLoadData(void** made, const void* code)
{
    return load(made, code);
}
int cuModuleLoadData(void** made, const void* code)
{
    return load(made, code);
}
int cuModuleLoadDataEx(void** made, const void* code)
{
    return load(made, code);
}
int cuLibraryGetKernel(void** made, void*, const char* name)
{
    std::printf("kernel %s\n", name);
    return give(made);
}
int cuModuleGetFunction(void** made, void* module, const char* name)
{
    return cuLibraryGetKernel(made, module, name);
}

int succeed()
{
    return 0;
}
[[gnu::alias("succeed")]] int cuCtxGetCurrent();
[[gnu::alias("succeed")]] int cuCtxGetLimit();
[[gnu::alias("succeed")]] int cuCtxPopCurrent();
[[gnu::alias("succeed")]] int cuCtxPushCurrent();
[[gnu::alias("succeed")]] int cuDeviceGet();
[[gnu::alias("succeed")]] int cuDeviceGetCount();
[[gnu::alias("succeed")]] int cuFuncSetAttribute();
[[gnu::alias("succeed")]] int cuKernelGetAttribute();
[[gnu::alias("succeed")]] int cuKernelSetAttribute();
[[gnu::alias("succeed")]] int cuLaunchCooperativeKernel();
[[gnu::alias("succeed")]] int cuLaunchKernel();
[[gnu::alias("succeed")]] int cuLaunchKernelEx();
[[gnu::alias("succeed")]] int cuLibraryLoadFromFile();
[[gnu::alias("succeed")]] int cuLibraryUnload();
[[gnu::alias("succeed")]] int cuLinkAddData();
[[gnu::alias("succeed")]] int cuLinkComplete();
[[gnu::alias("succeed")]] int cuLinkCreate();
[[gnu::alias("succeed")]] int cuLinkDestroy();
[[gnu::alias("succeed")]] int cuModuleUnload();
[[gnu::alias("succeed")]] int cuOccupancyMaxPotentialClusterSize();
[[gnu::alias("succeed")]] int cuStreamGetCtx();

int cudaGetDevice(int* device)
{
    *device = 0;
    return 0;
}
int cudaDeviceGetAttribute(int* value, int attribute)
{
    constexpr int major = 75;
    const char* const given = std::getenv("EMPTY_DRIVER_MAJOR");
    *value = attribute == major && given != nullptr ? std::atoi(given) : 0;
    return 0;
}

}  // extern "C"
