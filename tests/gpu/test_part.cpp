// The GPU part, opened as a shared object. Some tests need a GPU. On other machines the part must state why it has
// none.
#include "ert/base/error.hpp"
#include "ert/gpu/probes/tuning.hpp"
#include "ert/method/bench/bench_registry.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/plan/scheduler.hpp"
#include "tests/skip.hpp"

#include <dlfcn.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>

using namespace roof;

namespace {

/// The one built beside this test, unless it was carried to another machine.
std::string path_of_part()
{
    const char* const elsewhere = std::getenv("ROOF_GPU_PART");
    return elsewhere != nullptr ? elsewhere : ROOF_GPU_PART;
}

/// Never closed: the registry's benches live in the shared object.
void add_gpu_part(BenchRegistry& registry)
{
    void* part = dlopen(path_of_part().c_str(), RTLD_NOW | RTLD_LOCAL);
    INFO((part == nullptr ? dlerror() : ""));
    REQUIRE(part != nullptr);
    const auto add = reinterpret_cast<void (*)(BenchRegistry&)>(dlsym(part, "roof_add_part"));
    REQUIRE(add != nullptr);
    add(registry);
}

Device gpu_with_l2(double bytes)
{
    Device device;
    device.name = "gpu:0";
    device.kind = "gpu";
    device.levels.resize(1);
    device.levels[0].name = "L2";
    device.levels[0].capacity = Bytes{bytes};
    return device;
}

/// The first usual value of every axis, with the smallest working set.
Point first_point(const Bench& bench, const Machine& machine)
{
    Point point;
    for (const Axis& axis : bench.axes(machine)) point.set(axis.name, axis.defaults.front());
    return point;
}

}  // namespace

TEST_CASE("the GPU part lists the GPUs of the machine, or states why there is none, with a remedy")
{
    BenchRegistry registry;
    add_gpu_part(registry);
    const auto& capabilities = registry.machine().capabilities;
    REQUIRE(capabilities.size() == 1);
    CHECK(capabilities[0].name == "gpu");
    CHECK(registry.machine().versions.contains("CUDA runtime"));
    CHECK_THAT(registry.machine().versions.at("GPU kernels"), Catch::Contains("compute capability"));
    if (capabilities[0].present) {
        REQUIRE_FALSE(registry.machine().devices.empty());
        CHECK(registry.machine().devices[0].name == "gpu:0");
        CHECK(registry.machine().devices[0].memory > Bytes{});
    } else {
        CHECK(registry.machine().devices.empty());
        CHECK_THAT(capabilities[0].reason, Catch::Contains("cudaError"));
        CHECK_FALSE(capabilities[0].remedy.empty());
    }
}

TEST_CASE("every axis of the GPU part's benches has a column in the results, in their order")
{
    BenchRegistry registry;
    add_gpu_part(registry);
    for (const char* name :
         {"flops", "bandwidth", "shared", "latency", "launch", "link", "matmul", "peer", "allreduce", "ert"}) {
        const Bench* bench = registry.find(name, "gpu");
        REQUIRE(bench != nullptr);
        CHECK_FALSE(bench->description().empty());
        auto column = axis_names().begin();
        for (const Axis& axis : bench->axes(registry.machine())) {
            INFO(name << " " << axis.name);
            column = std::find(column, axis_names().end(), axis.name);
            REQUIRE(column != axis_names().end());
            CHECK_FALSE(axis.defaults.empty());
        }
    }
}

TEST_CASE("a device that is no GPU is an error that names it")
{
    BenchRegistry registry;
    add_gpu_part(registry);
    Device device = gpu_with_l2(1);
    for (const char* name : {"cpu", "gpu:", "gpu:x", "gpu:0 "}) {
        device.name = name;
        for (const auto& bench : registry.benches()) {
            INFO(bench->name());
            CHECK_THROWS_WITH(bench->make(first_point(*bench, registry.machine()), registry.machine(), device),
                              Catch::Contains("names no GPU"));
        }
    }
}

TEST_CASE("a point that a GPU's generation does not support states what it needs")
{
    const auto [operation, isa, precision, capability,
                words] = GENERATE(table<const char*, const char*, const char*, const char*, const char*>({
        {"fma", "cuda", "bf16", "7.5", "no fma in bf16 by cuda; these have: NVIDIA Ampere (8.0)"},
        {"fma", "cuda", "tf32", "9.0", "cuda has no tf32"},
        {"tile", "cuda", "fp32", "9.0", "cuda has no tile"},
        {"add", "cuda", "int32", "9.0", "two integer additions"},
        {"tile", "mma", "fp8", "9.0",
         "of compute capability 9.0 has no tile in fp8 by mma; these have: NVIDIA Ada (8.9), "},
        {"tile", "mma", "fp8", "8.9", ""},
        {"tile", "mma", "fp16", "6.1", "no tile in fp16 by mma; these have: NVIDIA Volta (7.0), NVIDIA Turing (7.5), "},
        {"tile", "mma", "int8", "7.0", "no tile in int8 by mma; these have: NVIDIA Turing (7.5), "},
        {"tile", "mma", "bf16", "8.7", ""},
        {"tile", "mma", "bf16", "11.0", ""},
        {"tile_e5m2", "wgmma", "bf16", "9.0", "e5m2 is a format of fp8"},
        {"tile", "wgmma", "fp64", "9.0", "wgmma has no fp64"},
        {"tile", "wgmma", "bf16", "8.0", "these have: NVIDIA Hopper (9.0)"},
        {"tile", "wgmma", "bf16", "10.0", "these have: NVIDIA Hopper (9.0)"},
        {"tile_e5m2", "wgmma", "fp8", "9.0", ""},
        {"tile", "tcgen05", "bf16", "9.0", "these have: NVIDIA Blackwell (10.0), NVIDIA Blackwell Ultra (10.3)"},
        {"tile", "tcgen05", "bf16", "10.0", ""},
        {"tile", "tcgen05", "bf16", "10.3", ""},
        {"tile", "tcgen05", "int8", "10.0", ""},
        {"tile", "tcgen05", "int8", "10.3", "these have: NVIDIA Blackwell (10.0)"},
        {"tile", "tcgen05", "bf16", "11.0", "no tile in bf16 by tcgen05"},
        {"tile", "tcgen05", "bf16", "12.0", "no tile in bf16 by tcgen05"},
        {"tile", "tcgen05", "fp64", "10.0", "tcgen05 has no fp64"},
        {"tile_mx", "tcgen05", "fp8", "10.0", ""},
        {"tile_mx", "tcgen05", "fp4", "10.0", ""},
        {"tile_nv", "tcgen05", "fp4", "10.0", ""},
        {"tile_nv", "tcgen05", "fp8", "10.0", "a scale for each 16"},
        {"tile_mx", "tcgen05", "bf16", "10.0", "a scale for each 32"},
        {"tile", "tcgen05", "fp4", "10.0", "only products with scales"},
        {"tile_mx", "mma", "fp8", "12.0", ""},
        {"tile_nv", "mma", "fp4", "12.1", ""},
        {"tile_mx", "mma", "fp8", "10.0", "these have: NVIDIA Blackwell (12.0)"},
    }));
    BenchRegistry registry;
    add_gpu_part(registry);
    Point point;
    point.set("operation", operation);
    point.set("isa", isa);
    point.set("precision", precision);
    Device device = gpu_with_l2(50e6);
    device.facts["compute capability"] = capability;
    const auto reason = registry.find("flops", "gpu")->unsupported_reason(point, registry.machine(), device);
    INFO(operation << " " << isa << " " << precision << " " << capability);
    CHECK(reason.has_value() == (words[0] != '\0'));
    CHECK_THAT(reason.value_or(""), Catch::Contains(words));
}

/// Every combination of the legal words, and the usual values, of a bench's axes.
void each_point(const std::vector<Axis>& axes, std::size_t depth, Point& point, const std::function<void()>& take)
{
    if (depth == axes.size()) return take();
    const Axis& axis = axes[depth];
    for (const std::string& value : axis.allowed.empty() ? axis.defaults : axis.allowed) {
        point.set(axis.name, value);
        each_point(axes, depth + 1, point, take);
    }
}

namespace {

/// The one this test was built from, unless it was carried to another machine.
std::string tree()
{
    const char* const elsewhere = std::getenv("ROOF_TREE");
    return elsewhere != nullptr ? elsewhere : ROOF_TEST_DATA "/../..";
}

/// As an H200 describes itself.
Device large_gpu()
{
    Device device;
    device.name = "gpu:0";
    device.kind = "gpu";
    device.levels = {{"L1", Bytes{132.0 * 233472}, 1, 1}, {"L2", Bytes{60e6}, 1, 1}, {"DRAM", Bytes{150e9}, 1, 1}};
    device.memory_available = Bytes{148e9};
    device.facts = {{"compute capability", "9.0"}, {"multiprocessors", "132"}};
    return device;
}

/// Sizes as a load sweep over three levels shows them.
ResolvedSizes resolved_sizes()
{
    std::vector<long long> levels;
    std::vector<long long> fastest;
    for (const long long level : {1LL << 23, 1LL << 25, 1LL << 30}) {
        fastest.push_back(level);
        levels.insert(levels.end(), {level, level + level / 2, 2 * level});
    }
    return {{{"gpu:0", 1, "levels"}, levels},
            {{"gpu:0", 1, "fastest"}, fastest},
            {{"gpu:0", 1, "edges"}, {1LL << 24, 3LL << 23, 1LL << 27, 1LL << 28}}};
}

}  // namespace

TEST_CASE("the launches of a calibration of a large GPU take at most 35% of its time")
{
    BenchRegistry registry;
    add_gpu_part(registry);
    registry.machine().devices = {large_gpu()};
    const auto [file, goal_seconds] =
        GENERATE(table<const char*, double>({{"gpu", 60}, {"gpu-quick", 15}, {"gpu-health", 8}}));
    const Plan plan = load_plan(tree() + "/configs/calibrate/" + file + ".yaml");
    std::vector<Item> rounds = expand(plan, registry);
    const std::vector<Item> resolved = at_sizes(rounds, resolved_sizes());
    std::erase_if(rounds, &Item::is_open);
    rounds.insert(rounds.end(), resolved.begin(), resolved.end());
    double seconds = 0;
    for (const Item& item : rounds) {
        if (item.bench->unsupported_reason(item.point, registry.machine(), registry.machine().devices.front()))
            continue;
        seconds += gpu::launch_length.value * (item.stopping.warmup + item.stopping.max_samples);
    }
    INFO(file << ": " << rounds.size() << " rounds");
    CHECK(rounds.size() > 30);
    CHECK(seconds < 0.35 * goal_seconds);
}

namespace {

/// Fails if the probe computes something else than its reference. What a GPU lacks is a warning: its row would say so,
/// too. `point` is supported.
void check_probe(const Bench& bench, const Point& point, const Machine& machine, const Device& device)
{
    INFO(device.name << " " << bench.name() << " " << point.str());
    try {
        const std::unique_ptr<Subject> subject = bench.make(point, machine, device);
        Trace trace(steady_clock(), 0);
        subject->launch(trace);
        CHECK_NOTHROW(subject->check());
    } catch (const Unsupported& reason) {
        WARN(reason.what());
    } catch (const Error& error) {
        FAIL_CHECK(error.what());
    }
}

void check_if_supported(const Bench& bench, const Point& point, const Machine& machine, const Device& device)
{
    if (!bench.unsupported_reason(point, machine, device)) check_probe(bench, point, machine, device);
}

}  // namespace

TEST_CASE("every GPU probe computes what its reference does, on every GPU there is, or at the points of a plan")
{
    BenchRegistry registry;
    add_gpu_part(registry);
    const Machine& machine = registry.machine();
    if (machine.devices.empty()) return skip("there is no GPU here");
    if (const char* const plan = std::getenv("ROOF_PLAN"); plan == nullptr) {
        for (const Device& device : machine.devices) {
            for (const auto& bench : registry.benches()) {
                Point point;
                each_point(bench->axes(machine), 0, point, [&] { check_if_supported(*bench, point, machine, device); });
            }
        }
    } else {
        std::set<std::string> left;
        for (const auto& bench : registry.benches()) left.insert(bench->name());
        for (const Item& item : expand(load_plan(plan), registry)) {
            left.erase(item.bench_name);
            if (item.bench != nullptr)
                check_if_supported(*item.bench, item.point, machine, machine.device(item.device));
        }
        CHECK(left == std::set<std::string>{});  // benches that the plan forgets
    }
}
