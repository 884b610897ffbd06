// What surrounds every launch of a probe, on the emulated device.
#include "ert/base/error.hpp"
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/device.hpp"
#include "ert/gpu/kernels/idle.hpp"
#include "ert/gpu/noise_monitor.hpp"
#include "ert/gpu/stream.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/emulated_gpu/planted/planted.hpp"
#include "tests/fakes/nvml/gpu.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <utility>

using namespace roof;
using namespace roof::gpu;

namespace {

/// The emulated driver's library, and what it knows of the first GPU, which a test may change.
struct Driver {
    std::shared_ptr<const Nvml> nvml = Nvml::open(std::array<std::string, 1>{ROOF_EMULATED_NVML});
    nvmlDevice_st& gpu = *nvml->device(bus_id_of({0}));
    const nvmlDevice_st before = gpu;
    ~Driver() { gpu = before; }
};

}  // namespace

TEST_CASE("a held stream goes on when the host releases it, and after a millisecond without", "[kernels]")
{
    const HostBuffer word(sizeof(unsigned), HostBuffer::Pages::pinned);
    auto* const released = reinterpret_cast<volatile unsigned*>(word.data());
    const Stream stream;
    const EventTimer timer;
    const auto hold = [&] { enqueue_hold(released, stream.get()); };
    *released = 0;
    const Seconds longest = timer.time(stream, hold);
    *released = 1;
    const Seconds shortest = timer.time(stream, hold);
    CHECK(longest.value == Approx(1e-3).epsilon(0.2));
    CHECK(shortest < 0.1 * longest);
}

TEST_CASE("the time of a launch does not contain what held the stream before it")
{
    const MonitoredStream held({0}, nullptr);
    const MonitoredStream free({0}, nullptr, false);
    int calls = 0;
    const auto time_of = [&calls](const MonitoredStream& stream) {
        return stream.time([&] {
            ++calls;
            enqueue_idle(stream.get());
        });
    };
    const auto is_held = [&](const MonitoredStream& stream) {
        std::set<std::string> before = std::exchange(emulated::machine().launched, {});
        time_of(stream);
        const bool found = std::ranges::any_of(emulated::machine().launched, [](const std::string& kernel) {
            return kernel.find("hold_kernel") != std::string::npos;
        });
        emulated::machine().launched.merge(before);
        return found;
    };
    CHECK(time_of(held).value == Approx(time_of(free).value));
    CHECK(is_held(held));
    CHECK_FALSE(is_held(free));
    CHECK(calls == 4);
    int beside = 0;
    emulated::machine().launched.clear();
    held.time([&] { enqueue_idle(held.get()); }, [&beside] { ++beside; });
    CHECK(beside > 0);
    CHECK(emulated::machine().launched.size() == 1);
    MonitoredStream watched({0}, nullptr);
    int looks = beside = 0;
    watched.watch([&looks](Seconds) { ++looks; });
    watched.time([&] { enqueue_idle(watched.get()); }, [&beside] { ++beside; });
    CHECK((looks > 0 && looks == beside));
}

TEST_CASE(
    "a launch tells the clock of its own readings, else the driver's, and calls what is beside it after each piece")
{
    const Driver driver;
    driver.gpu.megahertz = 1500;
    driver.gpu.reasons = 0xABC00;
    MonitoredStream stream({0}, driver.nvml);
    std::vector<ClockReading> readings(clock_readings);
    readings[3] = {0, 0, 1, 1'000'000'000};  // a cycle in a second
    int calls = 0;
    const auto enqueue = [&] {
        enqueue_idle(stream.get());
        if (++calls <= 3)
            check(cudaMemcpyAsync(stream.reading(), readings.data(), clock_readings * sizeof(ClockReading),
                                  cudaMemcpyHostToDevice, stream.get()));
    };
    const Clock clock = steady_clock();
    Trace trace(clock, 0);
    std::set<int> seen;
    trace.set_repeats(3, [&] { seen.insert(calls); });
    stream.launch(trace, enqueue);
    CHECK(seen == std::set<int>{1, 2, 3});
    CHECK(trace.sample().launches == 3);
    CHECK(trace.sample().clock.value == 1);
    CHECK(trace.sample().conditions.watts == 500);
    trace.set_repeats(1, {});
    stream.launch(trace, enqueue);
    CHECK(trace.sample().clock.value == 1.5e9);
    CHECK(stream.remarks().back() == "the driver reported clock event reasons that are not known here: 0xabc00");
    CHECK(MonitoredStream({0}, driver.nvml).remarks().empty());
}

TEST_CASE("an error of the device ends the wait for its work, and every later call")
{
    const Stream stream;
    CHECK(stream.is_idle());
    const auto trap = [&] { planted::enqueue_trap(stream.get()); };
    CHECK_THROWS_AS(EventTimer().time(stream, trap, [](Seconds) {}), DeviceFault);
    CHECK_THROWS_AS(stream.synchronize(), DeviceFault);
    CHECK_THROWS_AS(Buffer<int>(4, "more"), DeviceFault);
    CHECK_THROWS_AS(HostBuffer(4, HostBuffer::Pages::pinned), DeviceFault);
    CHECK_FALSE(emulated::fault_of_pending_work().empty());
}

TEST_CASE("memory of the host is pinned or not, and pinned memory that it lacks is an error")
{
    const auto is_pinned = [](HostBuffer::Pages pages) {
        const HostBuffer buffer(8, pages);
        const auto range = emulated::machine().memory().find(reinterpret_cast<std::uintptr_t>(buffer.data()), 8);
        return range.begin < range.end;
    };
    CHECK(is_pinned(HostBuffer::Pages::pinned));
    CHECK_FALSE(is_pinned(HostBuffer::Pages::pageable));
    emulated::machine().most_pinned = 7;
    CHECK_THROWS_WITH(is_pinned(HostBuffer::Pages::pinned), Catch::Contains("pinned host memory"));
    CHECK(cudaGetLastError() == cudaSuccess);
    emulated::machine().most_pinned = SIZE_MAX;
}

TEST_CASE("an error that lasts is told from one that does not")
{
    CHECK_THROWS_AS(check(cudaErrorIllegalAddress), DeviceFault);
    CHECK_THROWS_AS(check(cudaErrorLaunchFailure), DeviceFault);
    CHECK_THROWS_AS(check(cudaErrorNoKernelImageForDevice), Unsupported);
    try {
        check(cudaErrorInvalidValue);
        FAIL("no error");
    } catch (const DeviceFault&) {
        FAIL("an invalid argument is no fault of the device");
    } catch (const Error&) {
    }
}

TEST_CASE("finding the GPUs makes a context on none of them")
{
    emulated::machine().contexts.clear();
    Machine found;
    describe_devices(found, nullptr);
    CHECK(found.devices.size() == static_cast<std::size_t>(emulated::machine().count()));
    CHECK(emulated::machine().contexts.empty());
    const emulated::Card& card = emulated::machine().device(0).card;
    const Device& gpu = found.devices.front();
    CHECK((gpu.name == "gpu:0" && gpu.kind == "gpu" && gpu.model == card.name));
    CHECK(gpu.memory_available == gpu.memory);
    const std::string clock = std::to_string(static_cast<int>(card.clock_hz / 1e3));
    CHECK(gpu.facts == std::map<std::string, std::string>{
                           {"compute capability", "9.0"},
                           {"multiprocessors", std::to_string(card.multiprocessors)},
                           {"l2_bytes", std::to_string(static_cast<int>(card.l2_bytes))},
                           {"shared_bytes_per_multiprocessor", std::to_string(static_cast<int>(card.l1_bytes))},
                           {"clock_khz", clock},
                           {"memory_clock_khz", clock},
                           {"memory_bus_bits", std::to_string(static_cast<int>(4 * card.memory_bytes_per_cycle))},
                           {"ecc", "off"},
                           {"tensor cores", gpu.facts.at("tensor cores")}});
    CHECK_FALSE(gpu.spec_rates.empty());
    CHECK(std::ranges::all_of(gpu.spec_rates, [](const SpecRate& rate) { return rate.per_clock > 0; }));
    const std::string cuda = std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
    CHECK(found.versions == std::map<std::string, std::string>{{"CUDA driver", cuda}, {"CUDA runtime", cuda}});
    CHECK(found.capabilities.size() == 1);
    CHECK(found.capabilities.front().present);
    CHECK(power_meter(nullptr, gpu).lacking.find("NVML") == 0);
    const CurrentDevice current({0});
    CHECK(emulated::machine().contexts == std::set<int>{0});
}

TEST_CASE(
    "a GPU has the memory that the driver says is free, the rates of its own chip alone, and a driver that is told")
{
    const Driver driver;
    const auto found = [&] {
        Machine machine;
        describe_devices(machine, driver.nvml.get());
        return machine;
    };
    CHECK(found().versions.at("NVIDIA driver") == "0.0 (emulated)");
    for (const unsigned long long free : {12345ULL, 0ULL}) {  // 0: not told
        driver.gpu.free_bytes = free;
        const Device gpu = found().devices.front();
        CHECK(gpu.memory_available == (free > 0 ? Bytes{12345} : gpu.memory));
    }
    for (const int major : {3, 7}) {
        const emulated::Generation other(major);  // no file is of 3.0, none of 7.1
        emulated::machine().device(0).card.minor = major == 7 ? 1 : 0;
        CHECK(found().devices.front().spec_rates.empty());
        emulated::machine().device(0).card.minor = 0;
    }
    const Device gpu = found().devices.front();
    CHECK(power_meter(driver.nvml, gpu).lacking.empty());
    driver.gpu.millijoules = [] { return 0ULL; };
    CHECK(power_meter(driver.nvml, gpu).lacking == "NVML counts no joules of this GPU (it does from Volta on)");
    setenv("ROOF_EMULATED_DRIVER", "470.1", 1);
    const Machine none = found();
    unsetenv("ROOF_EMULATED_DRIVER");
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(none.devices.empty());
    CHECK(none.capabilities.at(0).reason.find("the NVIDIA driver 470.1 is too old for this build") == 0);
}

TEST_CASE("memory that a device lacks is an error with what there is, and leaves none behind")
{
    const std::size_t all = emulated::machine().device(0).card.memory_bytes;
    std::optional<Buffer<std::byte>> half;
    half.emplace(all / 2, "half");
    try {
        const Buffer<std::byte> more(all, "more");
        FAIL("there is no such memory");
    } catch (const OutOfMemory& error) {
        CHECK(error.wanted == Bytes{static_cast<double>(all)});
        CHECK(error.available == Bytes{static_cast<double>(all - emulated::machine().memory().allocated(0))});
    }
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a capture that fails is ended with what failed")
{
    const Stream stream;
    CHECK_THROWS_WITH(Graph(stream.get(),
                            [&] {
                                cudaStreamSynchronize(stream.get());
                                throw Error("it broke");
                            }),
                      "it broke");
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK_NOTHROW(stream.synchronize());
    int calls = 0;
    const Graph graph(stream.get(), [&] { ++calls; });
    CHECK(calls == 1);
}

TEST_CASE("a graph is uploaded when it is made, not in its first launch")
{
    emulated::machine().graph_upload_seconds = 100;
    const Stream stream;
    const Graph graph(stream.get(), [&] { enqueue_idle(stream.get()); });
    const Seconds first = EventTimer().time(stream, [&] { graph.launch(stream.get()); });
    emulated::machine().graph_upload_seconds = 0;
    CHECK(first.value < 1);
}
