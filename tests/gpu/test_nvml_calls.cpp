// The driver's library as the part uses it, on a stand-in that refuses what the real one refuses.
#include "ert/gpu/clock_watch.hpp"
#include "ert/gpu/nvml.hpp"

#include <dlfcn.h>
#include <catch2/catch.hpp>

#include <array>

using namespace roof;
using namespace roof::gpu;

namespace {

struct Stand {
    explicit Stand(const char* path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) { REQUIRE(handle != nullptr); }

    template <class... Arguments>
    int call(const char* name, Arguments... arguments) const
    {
        const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(handle, name));
        REQUIRE(function != nullptr);
        return function(arguments...);
    }

    void* handle;
};

std::shared_ptr<const Nvml> opened(const char* path)
{
    const std::array<std::string, 1> names{path};
    return Nvml::open(names);
}

constexpr const char* bus_id = "0000:01:00.0";

}  // namespace

TEST_CASE("the stand-in refuses what the driver's library refuses", "[fake]")
{
    const Stand stand(ROOF_FAKE_NVML);
    nvmlDevice_st* device = nullptr;
    unsigned number = 0;
    std::array<char, 96> text{};
    CHECK(stand.call("nvmlDeviceGetPowerUsage", device, &number) == 1);  // not initialised
    CHECK(stand.call("nvmlSystemGetDriverVersion", text.data(), 96U) == 1);
    CHECK(stand.call("nvmlShutdown") == 1);
    REQUIRE(stand.call("nvmlInit_v2") == 0);
    CHECK(stand.call("nvmlDeviceGetPowerUsage", device, &number) == 2);  // not a handle of it
    CHECK(stand.call("nvmlDeviceGetHandleByPciBusId_v2", "0000:02:00.0", &device) == 6);
    REQUIRE(stand.call("nvmlDeviceGetHandleByPciBusId_v2", bus_id, &device) == 0);
    CHECK(stand.call("nvmlDeviceGetPowerUsage", device, static_cast<unsigned*>(nullptr)) == 2);
    CHECK(stand.call("nvmlDeviceGetClockInfo", device, 4, &number) == 2);
    CHECK(stand.call("nvmlDeviceGetTemperature", device, 1, &number) == 2);
    CHECK(stand.call("nvmlSystemGetDriverVersion", text.data(), 4U) == 7);
    CHECK(stand.call("nvmlDeviceGetPowerUsage", device, &number) == 0);
    REQUIRE(stand.call("nvmlShutdown") == 0);
    CHECK(stand.call("nvmlDeviceGetPowerUsage", device, &number) == 1);
}

TEST_CASE("clocks, power, temperature, reasons and memory are read with the calls that the driver accepts", "[fake]")
{
    const auto nvml = opened(ROOF_FAKE_NVML);
    REQUIRE(nvml != nullptr);
    CHECK(nvml->driver_version() == "580.159.04");
    CHECK(nvml->device("0000:02:00.0") == nullptr);
    nvmlDevice_st* const device = nvml->device(bus_id);
    REQUIRE(device != nullptr);
    const GpuState state = nvml->look(device);
    CHECK(state.clock.value == 1755e6);
    CHECK(state.conditions.memory_clock.value == 2619e6);
    CHECK(state.conditions.watts == Approx(312.5));
    CHECK(state.conditions.celsius == 54);
    CHECK(is_power_capped(state.slowdowns));
    CHECK(disturbance_in(state.slowdowns) == "the card was too hot");
    CHECK(nvml->free_memory(device).value == 79.0 * (1U << 30));
}

TEST_CASE("energy, power at this moment and its limit are read with the calls that the driver accepts", "[fake]")
{
    const auto nvml = opened(ROOF_FAKE_NVML);
    nvmlDevice_st* const device = nvml->device(bus_id);
    const PowerReading reading = nvml->power(device);
    CHECK(reading.joules == Approx(123456.789));
    CHECK(reading.instant.value == Approx(655.25));
    CHECK(reading.limit.value == Approx(700));
    const auto old = opened(ROOF_FAKE_OLD_NVML);  // without these functions
    const PowerReading nothing = old->power(old->device(bus_id));
    CHECK(nothing.joules == 0);
    CHECK(nothing.instant.value == 0);
    CHECK(nothing.limit.value == 0);
    CHECK(nvml->power(nullptr).joules == 0);
}

TEST_CASE("of a GPU that is lost, and of a driver without a function, nothing is known", "[fake]")
{
    const Stand stand(ROOF_FAKE_NVML);
    const auto nvml = opened(ROOF_FAKE_NVML);
    nvmlDevice_st* const device = nvml->device(bus_id);
    const auto lose = reinterpret_cast<void (*)(bool)>(dlsym(stand.handle, "fake_nvml_lose_gpu"));
    lose(true);
    const GpuState lost = nvml->look(device);
    CHECK(lost.clock.value == 0);
    CHECK(lost.slowdowns == 0);
    CHECK(nvml->free_memory(device).value == 0);
    CHECK(nvml->power(device).joules == 0);
    CHECK(nvml->power(device).instant.value == 0);
    lose(false);
    const auto old = opened(ROOF_FAKE_OLD_NVML);  // without the reasons of a slowdown, temperature and memory
    const GpuState state = old->look(old->device(bus_id));
    CHECK(state.clock.value == 1755e6);
    CHECK(state.slowdowns == 0);
    CHECK(state.conditions.celsius == 0);
    CHECK(old->free_memory(old->device(bus_id)).value == 0);
}

TEST_CASE("a probe waits until the clock that the power cap held down has risen, at most half a second", "[fake]")
{
    const Stand stand(ROOF_FAKE_NVML);
    const auto slow_for = reinterpret_cast<void (*)(int)>(dlsym(stand.handle, "fake_nvml_slow_for"));
    const auto nvml = opened(ROOF_FAKE_NVML);  // which names the power cap always
    nvmlDevice_st* const device = nvml->device(bus_id);
    double rested = 0;
    const auto waited = [&](const std::shared_ptr<const Nvml>& of, nvmlDevice_st* which) {
        rested = 0;
        const Seconds all =
            wait_for_clock([&] { return of->look(which); }, Hertz{1755e6}, [&](Seconds time) { rested += time.value; });
        CHECK(all.value == Approx(rested).margin(1e-12));
        return rested;
    };
    CHECK(waited(nvml, device) == 0);
    slow_for(7);
    CHECK(waited(nvml, device) == Approx(0.07));
    slow_for(1000);
    CHECK(waited(nvml, device) == Approx(0.5).margin(0.011));
    slow_for(0);
    // Without a reason, nothing says that the work before is it.
    const Stand old_stand(ROOF_FAKE_OLD_NVML);
    const auto old_slow_for = reinterpret_cast<void (*)(int)>(dlsym(old_stand.handle, "fake_nvml_slow_for"));
    const auto old = opened(ROOF_FAKE_OLD_NVML);
    old_slow_for(1);
    CHECK(waited(old, old->device(bus_id)) == 0);
    CHECK(old->look(old->device(bus_id)).clock.value == 1755e6);
}
