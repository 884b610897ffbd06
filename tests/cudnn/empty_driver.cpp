// A libcuda.so.1 that loads every module and runs none: what cuDNN asks of the driver before it compiles a kernel. Prints the kernels' names.
#include <array>
#include <cstdio>

namespace {

std::array<int, 64> something{};

int give(void** made)
{
    *made = something.data();
    return 0;
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
int cuLibraryLoadData(void** made)
{
    return give(made);
}
int cuModuleLoadData(void** made)
{
    return give(made);
}
int cuModuleLoadDataEx(void** made)
{
    return give(made);
}
int cuLibraryGetKernel(void** made, void*, const char* name)
{
    std::puts(name);
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

}  // extern "C"
