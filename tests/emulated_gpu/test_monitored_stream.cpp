// What surrounds every launch of a probe, on the emulated device.
#include "ert/base/error.hpp"
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/device.hpp"
#include "ert/gpu/graph.hpp"
#include "ert/gpu/kernels/idle.hpp"
#include "ert/gpu/noise_monitor.hpp"
#include "ert/gpu/stream.hpp"
#include "tests/emulated_gpu/runtime/machine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

using namespace roof;
using namespace roof::gpu;

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
    int beside = 0;
    held.time([&] { enqueue_idle(held.get()); }, [&beside] { ++beside; });
    CHECK(beside > 0);
    CHECK(is_held(held));
    CHECK_FALSE(is_held(free));
    CHECK(calls == 4);
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
