// The cuDNN part as a shared object, on a machine with or without a GPU.
#include "ert/base/error.hpp"
#include "ert/method/bench/bench_registry.hpp"
#include "ert/method/bench/measurement.hpp"

#include <dlfcn.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>

using namespace roof;

namespace {

/// Returns the shared object built beside this test, unless ROOF_CUDNN_PART overrides it.
std::string path_of_part()
{
    const char* const elsewhere = std::getenv("ROOF_CUDNN_PART");
    return elsewhere != nullptr ? elsewhere : ROOF_CUDNN_PART;
}

/// Never closes the shared object, because the registry's benches are in it.
void add_part(BenchRegistry& registry)
{
    void* const part = dlopen(path_of_part().c_str(), RTLD_NOW | RTLD_LOCAL);
    INFO((part == nullptr ? dlerror() : ""));
    REQUIRE(part != nullptr);
    const auto add = reinterpret_cast<void (*)(BenchRegistry&)>(dlsym(part, "roof_add_part"));
    REQUIRE(add != nullptr);
    add(registry);
}

Point usual_point(const Bench& bench, const Machine& machine)
{
    Point point;
    for (const Axis& axis : bench.axes(machine)) {
        if (!axis.optional) point.set(axis.name, axis.defaults.front());
    }
    return point;
}

Device gpu_of(const std::string& capability)
{
    Device device;
    device.name = "gpu:0";
    device.kind = "gpu";
    device.facts["compute capability"] = capability;
    return device;
}

}  // namespace

TEST_CASE("The part opens without a driver and adds the bench, and results have columns for its axes, in their order")
{
    BenchRegistry registry;
    add_part(registry);
    CHECK_THAT(registry.machine().versions.at("cuDNN"), Catch::StartsWith("9."));
    CHECK_FALSE(registry.machine().versions.at("cuBLASLt").empty());
    const Bench* const bench = registry.find("train", "gpu");
    REQUIRE(bench != nullptr);
    for (const char* const name : {"network", "network_pair"}) CHECK(registry.find(name, "gpu") != nullptr);
    CHECK_FALSE(bench->description().empty());
    std::vector<std::string> names;
    auto column = axis_names().begin();
    for (const Axis& axis : bench->axes(registry.machine())) {
        INFO(axis.name);
        column = std::find(column, axis_names().end(), axis.name);
        REQUIRE(column != axis_names().end());
        CHECK_FALSE(axis.defaults.empty());
        names.push_back(axis.name);
    }
    CHECK(names == std::vector<std::string>{"model", "batch", "precision", "algorithm", "data", "parameters", "lr",
                                            "optimizer", "tokens", "phase", "graph", "deterministic", "ranks",
                                            "scaling", "communication", "bucket_mb", "batch_norm"});
}

TEST_CASE("A missing number format gives a reason, and a wrong learning rate is an input error")
{
    BenchRegistry registry;
    add_part(registry);
    const Bench* const bench = registry.find("train", "gpu");
    Point point = usual_point(*bench, registry.machine());
    point.set("precision", "bf16");
    const auto reason = bench->unsupported_reason(point, registry.machine(), gpu_of("7.5"));
    REQUIRE(reason);
    CHECK_THAT(*reason, Catch::Contains("of compute capability 7.5 has no arithmetic in bf16; fp32 and fp16 train"));
    CHECK_FALSE(bench->unsupported_reason(point, registry.machine(), gpu_of("9.0")));
    point.set("lr", "-1");
    CHECK_THROWS_AS(bench->unsupported_reason(point, registry.machine(), gpu_of("9.0")), InputError);
}

TEST_CASE("Ranks on GPUs need one GPU each, NCCL, and batch norm of their own batches, else they are unsupported")
{
    unsetenv("NCCL_HOSTID");
    BenchRegistry registry;
    add_part(registry);
    registry.machine().devices = {gpu_of("9.0"), gpu_of("7.0")};
    registry.machine().devices.back().name = "gpu:1";
    const Bench* const bench = registry.find("train", "gpu");
    Point point = usual_point(*bench, registry.machine());
    const auto reason_on = [&](const Device& device) {
        return bench->unsupported_reason(point, registry.machine(), device).value_or("libnccl.so.2 is here");
    };
    Device both = gpu_of("9.0");
    both.others = {"gpu:1"};
    point.set("ranks", "2");
    CHECK_THAT(reason_on(both), Catch::StartsWith("gpu:1: ") && Catch::Contains("this GPU has 7.0"));
    registry.machine().devices.back().facts["compute capability"] = "9.0";
    CHECK_THAT(reason_on(both), Catch::Contains("libnccl.so.2"));
    CHECK_THAT(reason_on(gpu_of("9.0")), Catch::StartsWith("2 ranks want a GPU each"));
    setenv("NCCL_HOSTID", "test", 1);
    CHECK_THAT(reason_on(gpu_of("9.0")), Catch::Contains("libnccl.so.2"));
    unsetenv("NCCL_HOSTID");
    point.set("batch_norm", "synchronised");
    CHECK_THAT(reason_on(both), Catch::Contains("each rank's own batch"));
}

TEST_CASE("One rank uses NCCL if communication is set, and a batch that cannot be divided is unsupported")
{
    BenchRegistry registry;
    add_part(registry);
    const Bench* const bench = registry.find("train", "gpu");
    Point point = usual_point(*bench, registry.machine());
    point.set("batch", "3");
    CHECK_FALSE(bench->unsupported_reason(point, registry.machine(), gpu_of("9.0")));
    point.set("communication", "serial");
    CHECK_THAT(bench->unsupported_reason(point, registry.machine(), gpu_of("9.0")).value_or("libnccl.so.2 is here"),
               Catch::Contains("libnccl.so.2"));
    point.set("ranks", "2");
    point.set("scaling", "strong");
    CHECK_THAT(bench->unsupported_reason(point, registry.machine(), gpu_of("9.0")).value(),
               Catch::Contains("cannot be shared out evenly among 2 ranks"));
}
