// A registry opens a deferred part only if something of that kind of device is looked up.
#include "ert/method/plan/plan.hpp"
#include "tests/fakes/fake_registry.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace roof;

namespace {

class GpuBench : public fakes::FakeBench {
  public:
    explicit GpuBench(const std::string& name)
        : FakeBench(
              name, Role::compute, {{"batch", "images", {"4"}, {}, true, 1, 64}},
              [](const Point&) { return fakes::FakeSubject::Script{}; }, {}, "gpu")
    {
    }
};

/// The fake CPU's registry, and three parts for GPUs: one adds a bench and the device, one a profiler, one a second
/// bench. `opened` lists them in the order of opening.
BenchRegistry registry_with_parts(std::vector<std::string>& opened)
{
    BenchRegistry registry = fakes::fake_registry({});
    registry.add(DeferredPart{"gpu", [&opened](BenchRegistry& to) {
                                  opened.emplace_back("ceilings");
                                  Device device;
                                  device.name = "gpu:0";
                                  device.kind = "gpu";
                                  to.machine().devices.push_back(device);
                                  to.add(std::make_unique<GpuBench>("flops"));
                              }});
    registry.add(DeferredPart{"gpu", [&opened](BenchRegistry& to) {
                                  opened.emplace_back("profiler");
                                  to.add(Profiler{"gpu", {}});
                              }});
    registry.add(DeferredPart{"gpu", [&opened](BenchRegistry& to) {
                                  opened.emplace_back("training");
                                  to.add(AbsentPart{"half of it", "it is not here", "look for it"});
                                  to.add(std::make_unique<GpuBench>("train"));
                              }});
    return registry;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("a plan for the CPU opens no part for GPUs")
{
    Words opened;
    const BenchRegistry registry = registry_with_parts(opened);
    const Plan plan = parse_plan("run:\n  - {bench: train, model: tinynet, profile: true}\n  - {bench: flops}\n", "p");
    const std::vector<Item> items = expand(plan, registry);
    check_items(items, registry);
    CHECK(items.size() > 2);
    CHECK(registry.machine().devices.size() == 1);
    CHECK(opened.empty());
}

TEST_CASE("a plan for a GPU opens parts in order up to its bench, each once, and finds its device")
{
    Words opened;
    const BenchRegistry registry = registry_with_parts(opened);
    const Plan ceilings = parse_plan("run:\n  - {bench: flops, device: 'gpu:0'}\n", "p");
    CHECK(expand(ceilings, registry).front().missing.empty());
    CHECK(opened == Words{"ceilings"});
    const Plan training = parse_plan("run:\n  - {bench: train, device: 'gpu:0'}\n", "p");
    CHECK(expand(training, registry).front().missing.empty());
    CHECK(expand(ceilings, registry).front().missing.empty());
    CHECK(opened == Words{"ceilings", "profiler", "training"});
}

TEST_CASE("a profiled row opens the profiler's part before the machine is stored")
{
    Words opened;
    const BenchRegistry registry = registry_with_parts(opened);
    expand(parse_plan("run:\n  - {bench: flops, device: 'gpu:0', profile: true}\n", "p"), registry);
    CHECK(opened == Words{"ceilings", "profiler"});
    CHECK(registry.profiler("gpu") != nullptr);
    CHECK(registry.profiler("tpu") == nullptr);
}

TEST_CASE("all benches and absent parts include those of all parts, also after the registry was moved")
{
    Words opened;
    BenchRegistry former = registry_with_parts(opened);
    const BenchRegistry registry = std::move(former);
    const auto is_for_gpu = [](const auto& bench) { return bench->device_kind() == "gpu"; };
    CHECK(std::ranges::count_if(registry.benches(), is_for_gpu) == 2);
    REQUIRE(registry.absent().size() == 1);
    CHECK(registry.absent().front().name == "half of it");
    CHECK(opened.size() == 3);
    CHECK(registry.find("train", "tpu") == nullptr);
}
