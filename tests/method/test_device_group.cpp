// Device groups such as "gpu:0,1", optional axes, and the images of several ranks.
#include "ert/method/bench/machine.hpp"
#include "ert/method/plan/measure.hpp"
#include "ert/method/plan/plan.hpp"
#include "tests/fakes/fake_registry.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::fakes;

namespace {

using Names = std::vector<std::string>;

/// A GPU bench that records its arguments.
class PairBench : public FakeBench {
  public:
    PairBench(std::vector<Axis> axes, const ManualClock& clock, std::shared_ptr<Device> seen)
        : FakeBench("train", Role::step, std::move(axes), fake_step, clock, "gpu"), seen_(std::move(seen))
    {
    }
    std::optional<std::string> unsupported_reason(const Point&, const Machine&, const Device& device) const override
    {
        *seen_ = device;
        return std::nullopt;
    }

  private:
    std::shared_ptr<Device> seen_;
};

const Axis batch{.name = "batch", .meaning = "images", .defaults = {"4"}, .allowed = {}, .numeric = true, .max = 64};
const Axis ranks{.name = "ranks",
                 .meaning = "processes",
                 .defaults = {"1"},
                 .allowed = {},
                 .numeric = true,
                 .max = 8,
                 .optional = true};

/// The fake registry with two GPUs and its CPU.
struct Pair {
    ManualClock clock;
    std::shared_ptr<Device> seen = std::make_shared<Device>();
    BenchRegistry registry = fake_registry(clock);

    explicit Pair(std::vector<Axis> axes)
    {
        for (const char* name : {"gpu:0", "gpu:1"}) {
            Device device;
            device.name = name;
            device.kind = "gpu";
            registry.machine().devices.push_back(device);
        }
        registry.add(std::make_unique<PairBench>(std::move(axes), clock, seen));
    }
    std::vector<Item> items(const std::string& entry) const
    {
        return expand(parse_plan("name: t\nrun:\n  - {bench: train, " + entry + "}\n", "plan"), registry);
    }
};

}  // namespace

TEST_CASE("a list of numbers names several devices, and any other name one")
{
    CHECK(devices_in("gpu:0,1,3") == Names{"gpu:0", "gpu:1", "gpu:3"});
    CHECK(devices_in("gpu:0") == Names{"gpu:0"});
    CHECK(devices_in("cpu") == Names{"cpu"});
    CHECK_THROWS_AS(devices_in("gpu:0,0"), InputError);
    CHECK_THROWS_AS(devices_in("gpu:0,"), InputError);
}

TEST_CASE("a row of two devices has a rank on each, and its bench gets both")
{
    const Pair pair({batch, ranks});
    const std::vector<Item> items = pair.items("device: 'gpu:0,1'");
    REQUIRE(items.size() == 1);
    CHECK(items.front().id() == "train gpu:0,1 batch=4 ranks=2");
    CHECK(measure(items.front(), pair.registry, pair.clock.clock()).status == Status::ok);
    CHECK(pair.seen->name == "gpu:0");
    CHECK(pair.seen->others == Names{"gpu:1"});
    CHECK_THROWS_WITH(pair.items("device: 'gpu:0,1', ranks: 3"), Catch::Contains("a rank on each device: 2"));
    CHECK(pair.items("device: 'gpu:0,1', ranks: 4").front().id() == "train gpu:0,1 batch=4 ranks=4");
}

TEST_CASE("a missing device, or a bench without ranks, is stated in the row")
{
    const Pair pair({batch, ranks});
    CHECK_THAT(pair.items("device: 'gpu:1,2'").front().missing, Catch::Contains("no device 'gpu:1,2'"));
    const Pair lonely({batch});
    CHECK_THAT(lonely.items("device: 'gpu:0,1'").front().missing, Catch::Contains("runs on one device"));
}

TEST_CASE("an optional axis is in a point only if the plan names it")
{
    const Pair pair({batch, ranks});
    CHECK(pair.items("device: 'gpu:0'").front().point.str() == "batch=4");
    CHECK(pair.items("device: 'gpu:0', ranks: [1, 2]").back().point.str() == "batch=4 ranks=2");
}

TEST_CASE("images are the sum over ranks, and equal the batch under strong scaling")
{
    Measurement row;
    row.point.set("batch", "8");
    row.seconds.median = Seconds{2};
    CHECK(row.images() == 8);
    row.point.set("ranks", "4");
    CHECK(row.images() == 32);
    CHECK(row.images_per_second().median == 16);
    row.point.set("scaling", "strong");
    CHECK(row.images() == 8);
    row.point.set("scaling", "weak");
    CHECK(row.images() == 32);
}
