// A lab opens what it was given for later when, and only when, something of that kind of device is looked for.
#include "ert/method/plan/plan.hpp"
#include "tests/fakes/fake_lab.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace roof;

namespace {

class GpuBench : public fakes::FakeBench {
  public:
    explicit GpuBench(const std::string& name)
        : FakeBench(name, Role::compute, {{"batch", "images", {"4"}, {}, true, 1, 64}},
                    [](const Point&) { return fakes::FakeSubject::Script{}; }, {})
    {
    }
    std::string_view device_kind() const override { return "gpu"; }
};

/// The fake CPU's lab, and three parts for GPUs: one that brings a bench and the device, one that sees into it, one that has a
/// second bench. `opened` names them as they open.
Lab lab_with_parts(std::vector<std::string>& opened)
{
    Lab lab = fakes::fake_lab({});
    lab.add(DeferredPart{"gpu", [&opened](Lab& to) {
                             opened.emplace_back("ceilings");
                             Device device;
                             device.name = "gpu:0";
                             device.kind = "gpu";
                             to.machine().devices.push_back(device);
                             to.add(std::make_unique<GpuBench>("flops"));
                         }});
    lab.add(DeferredPart{"gpu", [&opened](Lab& to) {
                             opened.emplace_back("profiler");
                             to.add(Profiler{"gpu", {}});
                         }});
    lab.add(DeferredPart{"gpu", [&opened](Lab& to) {
                             opened.emplace_back("training");
                             to.add(AbsentPart{"half of it", "it is not here", "look for it"});
                             to.add(std::make_unique<GpuBench>("train"));
                         }});
    return lab;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("a plan for the CPU opens no part for GPUs")
{
    Words opened;
    const Lab lab = lab_with_parts(opened);
    const Plan plan = parse_plan("run:\n  - {bench: train, model: tinynet, profile: true}\n  - {bench: flops}\n", "p");
    const std::vector<Item> items = expand(plan, lab);
    check_items(items, lab);
    CHECK(items.size() > 2);
    CHECK(lab.machine().devices.size() == 1);
    CHECK(opened.empty());
}

TEST_CASE("a plan for a GPU opens parts as far as its bench, in their order and once, and its device is found")
{
    Words opened;
    const Lab lab = lab_with_parts(opened);
    const Plan ceilings = parse_plan("run:\n  - {bench: flops, device: 'gpu:0'}\n", "p");
    CHECK(expand(ceilings, lab).front().missing.empty());
    CHECK(opened == Words{"ceilings"});
    const Plan training = parse_plan("run:\n  - {bench: train, device: 'gpu:0'}\n", "p");
    CHECK(expand(training, lab).front().missing.empty());
    CHECK(expand(ceilings, lab).front().missing.empty());
    CHECK(opened == Words{"ceilings", "profiler", "training"});
}

TEST_CASE("a row to be profiled opens the part that can, before the machine is written down")
{
    Words opened;
    const Lab lab = lab_with_parts(opened);
    expand(parse_plan("run:\n  - {bench: flops, device: 'gpu:0', profile: true}\n", "p"), lab);
    CHECK(opened == Words{"ceilings", "profiler"});
    CHECK(lab.profiler("gpu") != nullptr);
    CHECK(lab.profiler("tpu") == nullptr);
}

TEST_CASE("all benches, and all that is absent, are those of all parts, however the lab was moved")
{
    Words opened;
    Lab former = lab_with_parts(opened);
    const Lab lab = std::move(former);
    const auto is_for_gpu = [](const auto& bench) { return bench->device_kind() == "gpu"; };
    CHECK(std::ranges::count_if(lab.benches(), is_for_gpu) == 2);
    REQUIRE(lab.absent().size() == 1);
    CHECK(lab.absent().front().name == "half of it");
    CHECK(opened.size() == 3);
    CHECK(lab.find("train", "tpu") == nullptr);
}
