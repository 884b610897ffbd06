#include "ert/gpu/device.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/method/bench/chip.hpp"

#include <cuda.h>

#include <algorithm>
#include <array>

namespace roof::gpu {

namespace {

constexpr std::string_view prefix = "gpu:";

std::string version_text(int version)
{
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// What public documents say of its compute capability: rates of this one alone, instructions also of an older one.
void add_chip(int capability, Device& device)
{
    if (const std::vector<std::string> precisions = tensor_precisions(capability); !precisions.empty())
        device.facts["tensor cores"] = join(precisions, " ");
    const GpuChip* const chip = gpu_chip(capability);
    if (chip == nullptr || chip->capability != capability) return;
    std::ranges::copy_if(chip->instructions, std::back_inserter(device.spec_rates),
                         [](const SpecRate& rate) { return rate.per_clock > 0; });
}

/// Makes no context on the device, which would take some hundred megabytes of its memory.
Device describe_device(DeviceId id, const Nvml* nvml)
{
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, id.value));
    const std::size_t total = properties.totalGlobalMem;

    Device device;
    device.name = std::string(prefix) + std::to_string(id.value);
    device.kind = "gpu";
    device.model = properties.name;
    device.memory = Bytes{static_cast<double>(total)};
    device.memory_available = device.memory;
    if (nvmlDevice_st* const known = device_in(nvml, id); known != nullptr) {
        const Bytes free = nvml->free_memory(known);
        if (free > Bytes{}) device.memory_available = std::min(device.memory, free);
    }
    // L1 and shared memory are one memory; the runtime reports the part that shared memory may take. The capacity is
    // that of all multiprocessors together, because working sets are shared out over them.
    const double l1 = 1.0 * static_cast<double>(properties.sharedMemPerMultiprocessor) * properties.multiProcessorCount;
    device.levels = {{"L1", Bytes{l1}},
                     {"L2", Bytes{static_cast<double>(properties.l2CacheSize)}},
                     {"DRAM", Bytes{static_cast<double>(total)}}};
    // Clocks are read as attributes, because CUDA 13 removed them from cudaDeviceProp.
    device.facts = {
        {"compute capability", std::to_string(properties.major) + "." + std::to_string(properties.minor)},
        {"multiprocessors", std::to_string(properties.multiProcessorCount)},
        {"l2_bytes", std::to_string(properties.l2CacheSize)},
        {"shared_bytes_per_multiprocessor", std::to_string(properties.sharedMemPerMultiprocessor)},
        {"clock_khz", std::to_string(attribute(id, cudaDevAttrClockRate))},
        {"memory_clock_khz", std::to_string(attribute(id, cudaDevAttrMemoryClockRate))},
        {"memory_bus_bits", std::to_string(attribute(id, cudaDevAttrGlobalMemoryBusWidth))},
        {"ecc", properties.ECCEnabled != 0 ? "on" : "off"},
    };
    add_chip(10 * properties.major + properties.minor, device);
    return device;
}

/// A GPU that is broken or in exclusive use does not hide the others.
void describe_or_report(DeviceId id, const Nvml* nvml, Machine& machine)
{
    try {
        machine.devices.push_back(describe_device(id, nvml));
    } catch (const Error& error) {
        machine.inconsistencies.push_back(std::string(prefix) + std::to_string(id.value) +
                                          " cannot be used: " + error.what());
    }
}

/// Of CUDA's release notes: the oldest that runs what this runtime is of.
constexpr const char* least_driver = CUDART_VERSION >= 13000 ? "580" : "525";

Capability absence(cudaError_t status, const Nvml* nvml)
{
    const bool no_driver = status == cudaErrorInsufficientDriver || status == cudaErrorStubLibrary;
    const std::string driver = nvml != nullptr ? nvml->driver_version() : "";
    const std::string what = !no_driver       ? "no GPU was found"
                             : driver.empty() ? "no NVIDIA driver, or one older than this CUDA runtime"
                                              : "the NVIDIA driver " + driver + " is too old for this build";
    const std::string remedy = no_driver
                                   ? "install an NVIDIA driver for CUDA " + version_text(CUDART_VERSION) +
                                         " or newer, " + least_driver + " or later"
                                   : "check `nvidia-smi`, CUDA_VISIBLE_DEVICES and the permissions of /dev/nvidia*";
    return {"gpu", false, what + " (" + describe(status) + ")", remedy};
}

/// Whether this thread uses a device. Before, the runtime calls device 0 current, where cudaSetDevice() would make a
/// context.
bool has_context()
{
    using GetContext = CUresult (*)(CUcontext*);
    static const auto get = [] {
        void* found = nullptr;
        cudaDriverEntryPointQueryResult known{};
        const cudaError_t status =
            cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &found, 4000, cudaEnableDefault, &known);
        if (status != cudaSuccess) cudaGetLastError();
        const bool is_there = status == cudaSuccess && known == cudaDriverEntryPointSuccess;
        return is_there ? reinterpret_cast<GetContext>(found) : nullptr;
    }();
    CUcontext context = nullptr;
    return get == nullptr || (get(&context) == CUDA_SUCCESS && context != nullptr);
}

}  // namespace

DeviceId id_of(const Device& device)
{
    return {number_of(device)};
}

std::string bus_id_of(DeviceId id)
{
    std::array<char, 32> bus_id{};
    check(cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), id.value));
    return bus_id.data();
}

nvmlDevice_st* device_in(const Nvml* nvml, DeviceId id)
{
    return nvml == nullptr ? nullptr : nvml->device(bus_id_of(id));
}

PowerMeter power_meter(std::shared_ptr<const Nvml> nvml, const Device& device)
{
    nvmlDevice_st* const known = device_in(nvml.get(), id_of(device));
    if (known == nullptr) return {{}, "NVML, the driver's library, was not found or does not know " + device.name};
    const bool counts = nvml->power(known).joules > 0;
    return {[nvml, known] { return nvml->power(known); },
            counts ? "" : "NVML counts no joules of this GPU (it does from Volta on)"};
}

void describe_devices(Machine& machine, const Nvml* nvml)
{
    machine.versions["CUDA runtime"] = version_text(CUDART_VERSION);
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) {  // as where there is none
        cudaGetLastError();
        machine.capabilities.push_back(absence(status, nvml));
        return;
    }
    if (nvml != nullptr) machine.versions["NVIDIA driver"] = nvml->driver_version();
    int driver = 0;
    check(cudaDriverGetVersion(&driver));
    machine.versions["CUDA driver"] = version_text(driver);
    for (int index = 0; index < count; ++index) describe_or_report(DeviceId{index}, nvml, machine);
    machine.capabilities.push_back({"gpu", true, std::to_string(count) + " found by the CUDA runtime", ""});
}

int attribute(DeviceId id, cudaDeviceAttr which)
{
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, id.value));
    return value;
}

Hertz highest_clock(DeviceId id)
{
    return {1e3 * attribute(id, cudaDevAttrClockRate)};
}

CurrentDevice::CurrentDevice(DeviceId id)
{
    if (has_context()) check(cudaGetDevice(&former_));
    check(cudaSetDevice(id.value));
}

CurrentDevice::~CurrentDevice()
{
    if (former_ >= 0) log_failure(cudaSetDevice(former_));
}

}  // namespace roof::gpu
