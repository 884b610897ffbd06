// The prototypes are those of nvml.h, which CUDA toolkits may lack; NVML keeps them stable across drivers.
#include "ert/cupti/step_profiler.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/nvml.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/method/bench/clock.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>

namespace roof::cupti {
namespace {

using NvmlDevice = nvmlDevice_st*;
using GpmSample = struct nvmlGpmSample_st*;

constexpr int success = 0;
constexpr unsigned version = 1;
constexpr unsigned dram_bandwidth_used = 10;  ///< NVML_GPM_METRIC_DRAM_BW_UTIL, in percent
constexpr Seconds least_time{0.5};

struct GpmSupport {
    unsigned version;
    unsigned is_supported;
};

struct GpmMetric {
    unsigned number;
    int result;
    double value;
    std::array<const char*, 3> words;
};

/// nvmlGpmMetricsGet_t; NVML uses as many entries of its array as `metrics` says.
struct GpmQuestion {
    unsigned version;
    unsigned metrics;
    GpmSample first;
    GpmSample second;
    GpmMetric metric;
};

[[noreturn]] void refuse(const std::string& why)
{
    throw Unsupported("NVML's GPM is not available: " + why);
}

/// CUDA and NVML number the devices differently; the bus id is the same in both.
std::string bus_id_of(std::size_t device)
{
    const std::array<std::string, 3> names{"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "libcuda.so"};
    const std::optional<gpu::Library> driver = gpu::Library::open(names);
    if (!driver) refuse("there is no driver");
    int handle = 0;
    std::array<char, 64> text{};
    if (driver->function<int(int*, int)>("cuDeviceGet")(&handle, static_cast<int>(device)) != success ||
        driver->function<int(char*, int, int)>("cuDeviceGetPCIBusId")(text.data(), text.size(), handle) != success)
        refuse("the driver does not know the device");
    return text.data();
}

std::shared_ptr<nvmlGpmSample_st> make_sample(const gpu::Library& nvml)
{
    GpmSample made = nullptr;
    if (nvml.function<int(GpmSample*)>("nvmlGpmSampleAlloc")(&made) != success) refuse("no sample can be made");
    return {made, nvml.function<int(GpmSample)>("nvmlGpmSampleFree")};
}

/// Two transfers per clock.
ByteRate bandwidth_of(const Device& device)
{
    constexpr double hertz_per_kilohertz = 1e3;
    constexpr double bits_per_byte = 8;
    return ByteRate{2 * hertz_per_kilohertz * gpu::number_in(device, "memory_clock_khz") *
                    gpu::number_in(device, "memory_bus_bits") / bits_per_byte};
}

}  // namespace

MemoryUse memory_use(std::size_t device, const Launch& launch)
{
    const std::shared_ptr<const gpu::Nvml> library = gpu::Nvml::open();
    if (library == nullptr) refuse("NVML is missing or does not start");
    const gpu::Library& nvml = library->functions();
    const NvmlDevice handle = library->device(bus_id_of(device));
    if (handle == nullptr) refuse("NVML does not know the device");
    GpmSupport support{version, 0};
    const auto ask = nvml.function<int(NvmlDevice, GpmSupport*)>("nvmlGpmQueryDeviceSupport");
    if (ask(handle, &support) != success || support.is_supported == 0) refuse("this GPU has none");
    const std::shared_ptr<nvmlGpmSample_st> first = make_sample(nvml);
    const std::shared_ptr<nvmlGpmSample_st> second = make_sample(nvml);
    const auto take = [&](const std::shared_ptr<nvmlGpmSample_st>& sample) {
        if (nvml.function<int(NvmlDevice, GpmSample)>("nvmlGpmSampleGet")(handle, sample.get()) != success)
            refuse("it cannot be asked now");
    };

    const Clock clock = steady_clock();
    int launches = 0;
    take(first);
    const Seconds begin = clock();
    for (; clock() - begin < least_time; ++launches) launch();
    const Seconds taken = clock() - begin;
    take(second);
    GpmQuestion question{version, 1, first.get(), second.get(), {dram_bandwidth_used, success, 0, {}}};
    if (nvml.function<int(GpmQuestion*)>("nvmlGpmMetricsGet")(&question) != success ||
        question.metric.result != success)
        refuse("it does not say how busy the memory was");
    return {question.metric.value / 100, Seconds{taken.value / launches}};
}

Bytes bytes_of(const MemoryUse& use, const Device& device)
{
    return use.share * use.per_launch * bandwidth_of(device);
}

void require_bytes(const MemoryUse& use, const Device& device, Bytes compulsory)
{
    if (bytes_of(use, device) < compulsory)
        throw Unsupported(
            fmt::format("NVML's GPM is left out: by it device memory moved {:.3g} GB per launch, less than "
                        "the {:.3g} GB that the operations read and write",
                        1e-9 * bytes_of(use, device).value, 1e-9 * compulsory.value));
}

std::string describe(const MemoryUse& use, const Device& device)
{
    return fmt::format(
        "device memory moved {:.3g} GB per launch by NVML's GPM, which is no part of CUPTI: {:.1f}% of {:.4g} GB/s "
        "(spec) for {:.4g} ms",
        1e-9 * bytes_of(use, device).value, 100 * use.share, 1e-9 * bandwidth_of(device).value,
        1e3 * use.per_launch.value);
}

}  // namespace roof::cupti
