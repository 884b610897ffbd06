// What the probes say of points that they cannot measure, and that each one's check tells wrong results from right
// ones.
#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/kernels/bulk.hpp"
#include "ert/gpu/kernels/chains.hpp"
#include "ert/gpu/probes/arrays.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/method/bench/clock.hpp"
#include "ert/method/ceilings/point_summary.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/emulated_gpu/nccl/counts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

using namespace roof;
using namespace roof::gpu;

namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

Point point_of(const Values& values)
{
    Point point;
    for (const auto& [axis, value] : values) point.set(axis, value);
    return point;
}

Values operator+(Values values, const Values& more)
{
    values.insert(values.end(), more.begin(), more.end());
    return values;
}

const GpuBench& bench_of(const std::string& name, const Libraries& libraries = {})
{
    static std::vector<GpuBench> benches;
    benches = all_benches(libraries);
    return *std::ranges::find(benches, name, &GpuBench::name);
}

Device gpu_of(const std::string& capability, const std::string& name = "gpu:0")
{
    Device device;
    device.name = name;
    device.kind = "gpu";
    device.facts = {{"compute capability", capability}, {"multiprocessors", "40"}};
    return device;
}

/// The reason of the bench on the first device, or "".
std::string reason(const std::string& bench, const Values& values, const std::vector<Device>& devices,
                   const Libraries& libraries = {})
{
    Machine machine;
    machine.devices = devices;
    const std::unique_ptr<Bench> made = make_bench(bench_of(bench, libraries), nullptr);
    return made->unsupported_reason(point_of(values), machine, devices.front()).value_or("");
}

using Catch::Contains;
using Catch::Equals;

const Clock clock_of_host = steady_clock();

}  // namespace

TEST_CASE("a stream's point that a GPU cannot have is refused with its reason")
{
    const auto said = [](const std::string& operation, const std::string& isa, const std::string& path,
                         std::size_t bytes = std::size_t{1} << 20, const std::string& capability = "9.0") {
        Values values{{"operation", operation}, {"isa", isa}, {"working_set", std::to_string(bytes)}};
        if (!path.empty()) values.emplace_back("path", path);
        return reason("bandwidth", values, {gpu_of(capability)});
    };
    for (const char* isa : {"cuda", "cg", "bulk"}) CHECK(said("load", isa, "") == "");
    for (const char* operation : {"store", "copy", "triad"}) CHECK(said(operation, "cuda", "") == "");
    for (const char* operation : {"store", "copy"}) CHECK(said(operation, "bulk", "") == "");
    CHECK(said("load", "cg", "readers:2") == "");
    CHECK_THAT(said("load", "cuda", "", bulk_chunk_bytes - 1), Contains("less than 8192 bytes for each array"));
    CHECK_THAT(said("copy", "cuda", "", 2 * bulk_chunk_bytes - 1), Contains("less than 8192 bytes for each array"));
    CHECK(said("copy", "cuda", "", 2 * bulk_chunk_bytes) == "");
    CHECK_THAT(said("store", "cg", ""), Equals("only loads pass the L1, or have readers"));
    CHECK_THAT(said("copy", "cuda", "readers:2"), Contains("only loads"));
    for (const char* isa : {"cuda", "bulk"})
        CHECK_THAT(said("load", isa, "readers:2"), Equals("only loads past the L1 have two readers"));
    Device least = gpu_of("9.0");
    least.facts["multiprocessors"] = "1";
    CHECK_THAT(reason("bandwidth",
                      {{"operation", "load"}, {"isa", "cg"}, {"path", "readers:2"}, {"working_set", "65536"}}, {least}),
               Equals("the GPU has one multiprocessor"));
    CHECK_THAT(said("triad", "bulk", ""), Equals("the copy engine does not compute"));
    CHECK_THAT(said("load", "bulk", "", std::size_t{1} << 20, "8.9"),
               Equals("the copy engine needs compute capability 9.0; this GPU has 8.9"));
    CHECK(said("load", "cg", "", std::size_t{1} << 20, "6.0") == "");
    CHECK_THAT(said("load", "cuda", "", std::size_t{1} << 20, "5.2"), Contains("this build needs"));
}

TEST_CASE("an instruction's point that no GPU or this GPU lacks is refused with its reason")
{
    const auto said = [](const std::string& operation, const std::string& isa, const std::string& precision,
                         const std::string& capability = "9.0") {
        return reason("flops", {{"operation", operation}, {"isa", isa}, {"precision", precision}},
                      {gpu_of(capability)});
    };
    for (const char* operation : {"fma", "add", "mul"}) CHECK(said(operation, "cuda", "fp32") == "");
    CHECK(said("fma", "cuda", "int32") == "");
    for (const char* precision : {"fp64", "tf32", "fp16", "bf16", "int8"}) CHECK(said("tile", "mma", precision) == "");
    CHECK(said("tile_e5m2", "wgmma", "fp8") == "");
    CHECK(said("tile_pairs", "tcgen05", "fp8", "10.0") == "");
    for (const char* precision : {"fp8", "fp4"}) CHECK(said("tile_mx", "tcgen05", precision, "10.0") == "");
    CHECK(said("tile_nv", "mma", "fp4", "12.0") == "");
    CHECK_THAT(said("fma", "mma", "fp16"), Equals("mma has no fma"));
    CHECK_THAT(said("tile", "cuda", "fp16"), Equals("cuda has no tile"));
    CHECK_THAT(said("fma", "cuda", "fp8"), Equals("cuda has no fp8"));
    CHECK_THAT(said("tile", "wgmma", "fp64"), Equals("wgmma has no fp64"));
    CHECK_THAT(said("add", "cuda", "int32"), Contains("int32 has only fma"));
    CHECK_THAT(said("tile_e5m2", "mma", "fp16"), Equals("e5m2 is a format of fp8, not of fp16"));
    for (const char* precision : {"fp4", "int8"})
        CHECK_THAT(said("tile_pairs", "tcgen05", precision, "10.0"), Contains("is issued in tf32"));
    CHECK_THAT(said("tile_mx", "mma", "fp16"), Contains("each 32 numbers, not fp16"));
    CHECK_THAT(said("tile_nv", "mma", "fp8"), Contains("each 16 numbers, not fp8"));
    CHECK_THAT(said("tile", "mma", "fp4", "12.0"), Contains("only products with scales"));
    CHECK_THAT(said("tile", "wgmma", "fp16", "8.0"),
               Contains("of compute capability 8.0 has no tile in fp16 by wgmma; these have: NVIDIA Hopper"));
    CHECK_THAT(said("tile_pairs", "tcgen05", "fp8", "9.0"), Contains("10.0), ") && Contains("(10.3)"));
}

TEST_CASE("sets that are too small, chips that are too old and libraries that are missing are named")
{
    const auto on = [](const char* capability) { return std::vector{gpu_of(capability)}; };
    CHECK_THAT(reason("latency", {{"isa", "cg"}, {"working_set", std::to_string(2 * 64 * 40 - 1)}}, on("9.0")),
               Contains("less than two lines"));
    CHECK(reason("latency", {{"isa", "cg"}, {"working_set", std::to_string(2 * 64 * 40)}}, on("9.0")) == "");
    const Values curve{{"intensity", "1/8"}};
    const auto of_curve = [&](const char* precision, const char* bytes) {
        return reason("ert", curve + Values{{"precision", precision}, {"working_set", bytes}}, on("9.0"));
    };
    CHECK_THAT(of_curve("fp32", "15"), Contains("less than one vector"));
    CHECK(of_curve("fp32", "16") == "");
    const Libraries with_library{.cublaslt = CublasLt::open()};
    REQUIRE(with_library.cublaslt != nullptr);
    const Values product{{"size", "64"}, {"precision", "fp8"}};
    CHECK_THAT(reason("matmul", product, on("9.0")), Contains("libcublasLt was not found"));
    CHECK(reason("matmul", product, on("9.0"), with_library) == "");
    CHECK_THAT(reason("matmul", product, on("8.0"), with_library), Contains("8.0 has no product in fp8"));
    CHECK_THAT(reason("matmul", {{"size", "72"}, {"precision", "fp8"}}, on("9.0"), with_library),
               Contains("in steps of 16"));
}

TEST_CASE("a path to memory elsewhere names what is there")
{
    const std::vector<Device> two{gpu_of("9.0"), gpu_of("9.0", "gpu:1")};
    const auto peer = [&](const std::string& path) { return reason("peer", {{"path", path}}, two); };
    for (const char* path : {"peer", "peer:1"}) CHECK(peer(path) == "");
    for (const char* path : {"next", "peer:x", "peer:"}) CHECK_THAT(peer(path), Contains("is neither peer nor"));
    CHECK_THAT(peer("peer:0"), Equals("a GPU is no peer of itself"));
    CHECK_THAT(peer("peer:2"), Equals("this machine has no device 'gpu:2'"));
    CHECK_THAT(reason("peer", {{"path", "peer"}}, {two[0]}), Equals("there is no other GPU in this machine"));
    Device cpu;
    cpu.name = cpu.kind = "cpu";
    CHECK_THAT(reason("peer", {{"path", "peer"}}, {two[0], cpu}), Equals("there is no other GPU in this machine"));
    const auto link = [&](const char* operation, const char* pages) {
        return reason("link", {{"operation", operation}, {"pages", pages}}, two);
    };
    for (const char* operation : {"h2d", "d2h"}) CHECK(link(operation, "pageable") == "");
    const Libraries with_library{.nccl = Nccl::open({ROOF_EMULATED_NCCL})};
    REQUIRE(with_library.nccl != nullptr);
    const auto sums = [&](const std::vector<Device>& devices, const Values& values) {
        return reason("allreduce", values, devices, with_library);
    };
    const Values bus{{"operation", "bus"}};
    CHECK(sums(two, bus + Values{{"path", "nccl:0,1"}}) == "");
    CHECK(sums(two, {{"operation", "alone"}, {"path", "nccl"}}) == "");
    CHECK_THAT(sums(two, bus + Values{{"path", "nccl"}}), Contains("one GPU: nothing to reduce with"));
    CHECK_THAT(sums({two[1], two[0]}, bus + Values{{"path", "nccl:0,1"}}), Contains("measured with gpu:0, the first"));
    CHECK_THROWS_WITH(sums(two, bus + Values{{"path", "mpi:0,1"}}), Contains("is not of the form nccl:0,1"));
    CHECK_THAT(reason("allreduce", bus + Values{{"path", "nccl:0,1"}}, two), Contains("libnccl.so.2 was not found"));
    std::vector<Device> many;
    std::string path = "nccl:0";
    for (int i = 0; i < 17; ++i) many.push_back(gpu_of("9.0", "gpu:" + std::to_string(i)));
    for (int i = 1; i < 16; ++i) path += "," + std::to_string(i);
    CHECK(sums(many, bus + Values{{"path", path}}) == "");
    CHECK_THAT(sums(many, bus + Values{{"path", path + ",16"}}), Contains("more than 16 GPUs"));
}

TEST_CASE("each probe's check runs its kernel, and tells wrong results from right ones")
{
    const Libraries libraries{.cublaslt = CublasLt::open()};
    Machine machine;
    describe_devices(machine, nullptr);
    std::string& spoiled = emulated::machine().engine().spoils;
    const auto check = [&](const std::string& bench, const Values& values, const std::string& kernel) {
        INFO(bench << " " << point_of(values).str());
        const Point point = point_of(values);
        const CurrentDevice current({0});
        Turns turns;
        const auto subject =
            bench_of(bench, libraries).create({point, machine, machine.devices.front(), {0}, nullptr, turns});
        CHECK_NOTHROW(subject->check());
        spoiled = kernel;
        CHECK_THROWS_AS(subject->check(), Error);
        spoiled.clear();
        CHECK_NOTHROW(subject->check());
        Trace trace(clock_of_host, 0);
        subject->launch(trace);
        CHECK(emulated::machine().is_idle());
        CHECK(trace.sample().clock.value == Approx(emulated::machine().device(0).card.clock_hz).epsilon(0.01));
        CHECK(emulated::fault_of_pending_work().empty());
        const Work work = subject->work();
        const double clocks = trace.time_taken().value().value * trace.sample().clock.value;
        return (work.flops.value > 0 ? work.flops.value : work.compulsory.value) / clocks;
    };
    const auto set = [](const char* bytes) { return Values{{"working_set", bytes}}; };
    for (const char* operation : {"load", "store", "copy", "triad"})
        check("bandwidth", set("65536") + Values{{"operation", operation}, {"isa", "cuda"}}, "stream_kernel");
    check("bandwidth", set("65536") + Values{{"operation", "load"}, {"isa", "bulk"}}, "bulk_kernel");
    const emulated::Card& card = emulated::machine().device(0).card;
    for (const auto& [operation, kind, flops] : {std::tuple{"fma", ChainOperation::fma, 2},
                                                 {"add", ChainOperation::add, 1},
                                                 {"mul", ChainOperation::mul, 1}}) {
        const double most = flops * card.lanes * card.multiprocessors;  // in a clock
        const double rate = check("flops", {{"operation", operation}, {"isa", "cuda"}, {"precision", "fp32"}},
                                  "ChainOperationE" + std::to_string(static_cast<int>(kind)));
        CHECK((rate > 0.7 * most && rate < most));
    }
    check("flops", {{"operation", "tile"}, {"isa", "mma"}, {"precision", "bf16"}}, "mma_kernel");
    check("flops", {{"operation", "tile"}, {"isa", "wgmma"}, {"precision", "int8"}}, "wgmma_kernel");
    for (const char* operation : {"load", "store"}) {
        const double most = card.shared_bytes_per_cycle * card.multiprocessors;
        const double rate = check("shared", {{"operation", operation}}, "shared_kernel");
        CHECK((rate > 0.6 * most && rate < most));
    }
    check("latency", set("16384") + Values{{"isa", "cg"}}, "chase_kernel");
    const Values curve = set("65536") + Values{{"precision", "fp32"}};
    CHECK(check("ert", curve + Values{{"intensity", "4"}}, "intensity_kernel") >
          2 * check("ert", curve + Values{{"intensity", "1/2"}}, "intensity_kernel"));  // of nearly the same time
    const Point shared = point_of(set("65536") + Values{{"operation", "load"}, {"isa", "cg"}, {"path", "readers:2"}});
    Turns of_readers;
    const auto readers =
        bench_of("bandwidth").create({shared, machine, machine.devices.front(), {0}, nullptr, of_readers});
    CHECK_THAT(readers->variant(), Contains("stretches of 2, "));
    CHECK_NOTHROW(readers->check());
    for (const char* operation : {"h2d", "d2h"}) {
        const Point point = point_of(set("65536") + Values{{"operation", operation}, {"pages", "pageable"}});
        Turns turns;
        CHECK_NOTHROW(bench_of("link").create({point, machine, machine.devices.front(), {0}, nullptr, turns})->check());
    }
    const Point product = point_of({{"precision", "fp16"}, {"size", "64"}});
    Turns turns;
    const auto subject =
        bench_of("matmul", libraries).create({product, machine, machine.devices.front(), {0}, nullptr, turns});
    CHECK_NOTHROW(subject->check());
    spoiled = "product";
    CHECK_THROWS_AS(subject->check(), Error);
    spoiled.clear();
    const Work work = subject->work();  // 2 n^3 FLOPs, of three matrices
    CHECK(work.flops.value / work.compulsory.value == Approx(2.0 * 64 * 64 * 64 / (3 * 64 * 64 * 2)));
}

TEST_CASE("a probe of launches counts the kernels that run")
{
    Machine machine;
    describe_devices(machine, nullptr);
    const CurrentDevice current({0});
    for (const char* path : {"launch", "graph"}) {
        const Point point = point_of({{"path", path}});
        Turns turns;
        const auto subject = bench_of("launch").create({point, machine, machine.devices.front(), {0}, nullptr, turns});
        const long before = emulated::machine().kernels_run;
        Trace trace(clock_of_host, 0);
        subject->launch(trace);
        CHECK(emulated::machine().kernels_run - before == subject->work().compulsory.value / bytes_per_access);
    }
}

TEST_CASE("arrays are there for what an operation reads and writes, and are cleared and repeated before what follows")
{
    const Stream stream;
    using Pattern = std::array<bool, 4>;
    for (const auto& [operation, due] : {std::pair{StreamOperation::load, Pattern{true, false, false, true}},
                                         {StreamOperation::store, Pattern{false, false, true, false}},
                                         {StreamOperation::copy, Pattern{true, false, true, false}},
                                         {StreamOperation::triad, Pattern{true, true, true, false}}}) {
        const StreamLaunch launch = Arrays(operation, 3 * bulk_chunk_bytes, 64, stream).launch();
        CHECK(Pattern{launch.a != nullptr, launch.b != nullptr, launch.out != nullptr, launch.sums != nullptr} == due);
    }
    const HostBuffer found(99, HostBuffer::Pages::pinned);
    const auto seen = [&](const void* device) {  // by a stream that does not wait for others
        check(cudaMemcpyAsync(found.data(), device, 99, cudaMemcpyDeviceToHost, stream.get()));
        stream.synchronize();
        return std::vector(found.data(), found.data() + 99);
    };
    Buffer<std::byte> buffer(99, "repeated numbers");
    const std::vector<std::byte> five(3, std::byte{5});
    Arrays arrays(StreamOperation::load, bulk_chunk_bytes, 25, stream);
    for (unsigned seed = 0; seed < 5; ++seed) {
        emulated::machine().chance().seed(seed);
        buffer.write(std::vector<std::byte>(99));
        repeat(five, buffer);
        CHECK(seen(buffer.data()) == std::vector(99, std::byte{5}));
        check(cudaMemset(arrays.launch().sums, 1, 99));
        arrays.clear_results();
        CHECK(seen(arrays.launch().sums) == std::vector<std::byte>(99));
    }
}

TEST_CASE("an all-reduce of two GPUs counts each sum, in a graph where messages are small, and misses none",
          "[.two_gpus]")
{
    const Libraries libraries{.nccl = Nccl::open({ROOF_EMULATED_NCCL})};
    Machine machine;
    describe_devices(machine, nullptr);
    const CurrentDevice current({0});
    const auto check = [&](const std::string& path, int bytes, int ranks) {
        const Values values{{"path", path}, {"size", std::to_string(bytes)}};
        const Point point = point_of(values + Values{{"operation", ranks == 1 ? "alone" : "bus"}});
        INFO(point.str());
        Turns turns;
        const auto subject =
            bench_of("allreduce", libraries).create({point, machine, machine.devices.front(), {0}, nullptr, turns});
        const bool is_graph = bytes <= 1 << 20;
        CHECK_THAT(subject->remarks().back(),
                   ranks == 1 ? Contains("one rank alone") : Contains("times 2(N-1)/N: 100% of it for 2 GPUs"));
        const int before = emulated::counts_of(*libraries.nccl).ran;
        Trace trace(clock_of_host, 0);
        subject->launch(trace);
        CHECK(emulated::machine().is_idle());
        const double sums = subject->work().compulsory.value / bytes;  // 2 (2 - 1) / 2 is 1
        CHECK(emulated::counts_of(*libraries.nccl).ran - before == ranks * sums);
        CHECK((std::fmod(sums, 16) == 0) == is_graph);
        setenv("ROOF_EMULATED_NCCL_ACCIDENT", is_graph ? "lost graph 0" : "lost run 0", 1);
        CHECK_THROWS_AS(subject->check(), Error);
        unsetenv("ROOF_EMULATED_NCCL_ACCIDENT");
        for (unsigned seed = 0; seed < 5; ++seed) {
            emulated::machine().chance().seed(seed);
            CHECK_NOTHROW(subject->check());
        }
    };
    check("nccl:0,1", 4096, 2);
    check("nccl", 4096, 1);
    check("nccl:0,1", (1 << 20) + 16, 2);
    const Point point = point_of({{"operation", "bus"}, {"path", "nccl:0,1"}, {"size", "4096"}});
    Turns turns;
    const auto subject =
        bench_of("allreduce", libraries).create({point, machine, machine.devices.front(), {0}, nullptr, turns});
    setenv("ROOF_RANK_TIMEOUT", "0.2", 1);
    setenv("ROOF_EMULATED_NCCL_ACCIDENT", "hang graph 0", 1);
    CHECK_THROWS_WITH(subject->check(), Contains("NCCL waited 0 s for "));
    unsetenv("ROOF_EMULATED_NCCL_ACCIDENT");
    unsetenv("ROOF_RANK_TIMEOUT");
}

TEST_CASE("what goes to another GPU is copied, and arrives", "[.two_gpus]")
{
    Machine machine;
    describe_devices(machine, nullptr);
    const Point point = point_of({{"operation", "copy"}, {"path", "peer"}, {"working_set", "65536"}});
    const CurrentDevice current({1});
    Turns turns;
    const auto subject = bench_of("peer").create({point, machine, machine.devices[1], {1}, nullptr, turns});
    const long before = emulated::machine().kernels_run;
    Trace trace(clock_of_host, 0);
    subject->launch(trace);
    CHECK(emulated::machine().is_idle());
    CHECK(emulated::machine().kernels_run == before + 1);  // what holds the stream
    CHECK(std::fmod(subject->work().compulsory.value, 65536) == 0);
    CHECK_NOTHROW(subject->check());
}
