// Calibration of a GPU by the built-in plans, on synthetic probes: levels, links and conditions.
#include "ert/base/files.hpp"
#include "tests/tools/workbench.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

using namespace roof;
using nlohmann::json;
using tests::words;
using tests::Workbench;

namespace {

constexpr double gpu_launch_seconds = 1e-3;
constexpr double l1_bytes = 30e6;
constexpr double l2_bytes = 50e6;

/// Reports the conditions of each launch; one of every five launches is too hot.
class MonitoredSubject final : public fakes::FakeSubject {
  public:
    using FakeSubject::FakeSubject;

    void launch(Trace& trace) override
    {
        FakeSubject::launch(trace);
        trace.ran_under({Hertz{2.6e9}, 512, 61});
        if (++launches_ % 5 == 0) trace.disturbed("the card was too hot");
    }

  private:
    int launches_ = 0;
};

class GpuBench final : public fakes::FakeBench {
  public:
    GpuBench(std::string name, Role role, std::vector<Axis> axes, Make make, const fakes::ManualClock& clock)
        : FakeBench(std::move(name), role, std::move(axes), make, clock, "gpu"), make_(std::move(make)), clock_(clock)
    {
    }
    std::optional<std::string> unsupported_reason(const Point& point, const Machine&, const Device&) const override
    {
        if (point.has("path") && point.text("path") == "peer") return "there is no other GPU in this machine";
        return std::nullopt;
    }
    std::unique_ptr<Subject> create(const Point& point, const Machine&, const Device&) const override
    {
        return std::make_unique<MonitoredSubject>(make_(point), clock_);
    }

  private:
    Make make_;
    fakes::ManualClock clock_;
};

fakes::FakeSubject::Script script_of(Flops flops, Bytes bytes)
{
    fakes::FakeSubject::Script script;
    script.work = {flops, bytes, bytes};
    script.rest_seconds = gpu_launch_seconds;
    script.clock = Hertz{1.9e9};
    return script;
}

fakes::FakeSubject::Script gpu_compute_script(const Point& point)
{
    const double rate = point.has("isa") && point.text("isa") == "wgmma" ? 900e12 : 60e12;
    return script_of(Flops{rate * gpu_launch_seconds}, Bytes{1e9});
}

bool passes_l1(const Point& point)
{
    const bool is_store = point.has("operation") && point.text("operation") == "store";
    return is_store || (point.has("isa") && point.text("isa") != "cuda");
}

/// The L1s together exceed half of the L2's capacity, as on real GPUs, so loads through them show too small an L2.
fakes::FakeSubject::Script memory_script(const Point& point)
{
    const double set = point.has("working_set") ? point.number("working_set") : 1e9;
    const double of_l1 = passes_l1(point) ? 0 : l1_bytes;
    const double rate = set <= of_l1 ? 25e12 : set <= l2_bytes ? 8e12 : 4.5e12;
    return script_of({}, Bytes{rate * gpu_launch_seconds});
}

/// Accesses of 30, 200 or 600 ns, counted as 64 bytes.
fakes::FakeSubject::Script latency_script(const Point& point)
{
    const double set = point.has("working_set") ? point.number("working_set") : 0;
    const double of_l1 = passes_l1(point) ? 0 : l1_bytes;
    const double seconds = point.has("path") ? 2e-6 : set <= of_l1 ? 30e-9 : set <= l2_bytes ? 200e-9 : 600e-9;
    return script_of({}, Bytes{64 * gpu_launch_seconds / seconds});
}

/// Larger messages are faster; one rank alone is faster than any link.
fakes::FakeSubject::Script allreduce_script(const Point& point)
{
    const double rate = point.text("operation") == "alone" ? 2e12 : point.text("size") == "1024" ? 1e9 : 400e9;
    return script_of({}, Bytes{rate * gpu_launch_seconds});
}

BenchRegistry gpu_registry(const fakes::ManualClock& clock)
{
    BenchRegistry registry;
    registry.machine() = fakes::fake_machine();
    Device gpu;
    gpu.name = "gpu:0";
    gpu.kind = "gpu";
    gpu.model = "Fake GPU";
    gpu.memory = Bytes{140e9};
    gpu.levels = {{"L1", Bytes{l1_bytes}, 1, 1}, {"L2", Bytes{l2_bytes}, 1, 1}, {"DRAM", gpu.memory, 1, 1}};
    registry.machine().devices.push_back(gpu);
    gpu.name = "gpu:1";
    registry.machine().devices.push_back(gpu);

    const Axis operation = words("operation", "load");
    const Axis isa = words("isa", "cuda");
    const Axis precision = words("precision", "fp32");
    Axis readers{"path", "anything", {"readers:2"}, {}};
    readers.optional = true;
    Axis set{"working_set", "bytes", {}, {}, true, 1, 1LL << 40, {"levels", "edges", "fastest"}};
    for (double size = 2e6; size < 2e9; size *= 2)
        for (const double each : {size, 1.5 * size}) set.defaults.push_back(std::to_string(std::llround(each)));
    const auto add = [&](const std::string& name, Role role, std::vector<Axis> axes, const auto& script) {
        registry.add(std::make_unique<GpuBench>(name, role, std::move(axes), script, clock));
    };
    add("flops", Role::compute, {operation, isa, precision}, gpu_compute_script);
    add("matmul", Role::compute, {words("operation", "matmul"), isa, precision, words("size", "8192")},
        gpu_compute_script);
    add("bandwidth", Role::bandwidth, {operation, isa, readers, set}, memory_script);
    add("shared", Role::bandwidth, {operation, words("path", "shared")}, memory_script);
    add("latency", Role::latency, {Axis{"isa", "anything", {"cuda", "cg"}, {}}, set}, latency_script);
    add("launch", Role::latency, {words("path", "launch")}, latency_script);
    add("link", Role::bandwidth, {operation, words("pages", "pinned"), words("path", "host"), set}, memory_script);
    add("peer", Role::bandwidth, {operation, words("path", "peer")}, memory_script);
    const Axis sum{"operation", "anything", {"bus", "alone"}, {}};
    const Axis size{"size", "bytes", {"1024", "1073741824", "1048576"}, {}};
    add("allreduce", Role::bandwidth, {sum, words("path", "nccl"), size}, allreduce_script);
    add("ert", Role::compute, {words("intensity", "1"), precision, set}, gpu_compute_script);
    return registry;
}

tests::Said calibrate_gpu(const Workbench& bench, const std::vector<std::string>& options,
                          const std::string& device = "gpu:0")
{
    std::vector<std::string> line{"calibrate", "--device", device};
    line.insert(line.end(), options.begin(), options.end());
    std::ostringstream out;
    std::ostringstream err;
    const auto never = [] { return false; };
    const auto registry = [&] { return gpu_registry(bench.clock); };
    const int status =
        run_command_line(line, {out, err, registry, bench.clock.clock(), Terminal{}, never, bench.folder / "results"});
    return {status, out.str(), err.str()};
}

/// The only ceiling of this kind, level and operation; fails if there is none.
json ceiling(const json& all, const std::string& kind, const std::string& level, const std::string& operation)
{
    for (const json& c : all) {
        if (c.at("kind") == kind && c.at("level") == level && c.at("operation") == operation) return c;
    }
    FAIL("no " << kind << " of " << level << " " << operation);
    return {};
}

}  // namespace

TEST_CASE("memory levels of a GPU come from its load sweep, as for a CPU")
{
    const Workbench bench;
    const auto said = calibrate_gpu(bench, {"--json"});
    INFO(said.err);
    REQUIRE(said.status == 0);
    const json all = json::parse(said.out).at("ceilings");
    CHECK(ceiling(all, "bandwidth", "L1", "load").at("median").get<double>() == Approx(25e12));
    CHECK(ceiling(all, "bandwidth", "L2", "load").at("median").get<double>() == Approx(8e12));
    CHECK(ceiling(all, "bandwidth", "L2", "store").at("median").get<double>() == Approx(8e12));
    CHECK(ceiling(all, "latency", "L1", "latency").at("median").get<double>() == Approx(1 / 30e-9));
    CHECK(ceiling(all, "latency", "L2", "latency").at("median").get<double>() == Approx(1 / 200e-9));
    CHECK(ceiling(all, "bandwidth", "DRAM", "copy").at("median").get<double>() == Approx(4.5e12));
    CHECK(ceiling(all, "latency", "DRAM", "latency").at("median").get<double>() == Approx(1 / 600e-9));
}

TEST_CASE("each device of a group is measured into the same folder")
{
    const Workbench bench;
    const auto device = GENERATE(as<std::string>(), "gpu:0,1", "gpu");  // every GPU
    const auto said = calibrate_gpu(bench, {"--json", "--quick"}, device);
    INFO(said.err);
    const json all = json::parse(said.out).at("ceilings");
    const auto of = [&](const std::string& one) {
        return std::ranges::count_if(all, [&](const json& c) { return c.at("device") == one; });
    };
    CHECK(of("gpu:0") > 3);
    CHECK(of("gpu:1") == of("gpu:0"));
}

// Processes that measure GPUs side by side: tests/emulated_gpu/test_pipe.py.
TEST_CASE("benches can be left out of a plan, and only GPUs are measured side by side")
{
    const Workbench bench;
    const json all =
        json::parse(calibrate_gpu(bench, {"--json", "--quick", "--without", "link,matmul"}).out).at("ceilings");
    CHECK(std::ranges::none_of(all, [](const json& c) { return c.at("level") == "host"; }));
    CHECK(std::ranges::any_of(all, [](const json& c) { return c.at("level") == "DRAM"; }));
    CHECK_THAT(calibrate_gpu(bench, {"--without", "lnik"}).err, Catch::Contains("link"));
    CHECK(calibrate_gpu(bench, {"--side-by-side"}, "cpu").status == 2);
}

TEST_CASE("each transfer path has its own ceiling")
{
    const Workbench bench;
    const json all = json::parse(calibrate_gpu(bench, {"--json"}).out).at("ceilings");
    CHECK(ceiling(all, "bandwidth", "shared", "load").at("condition") == "shared");
    CHECK(ceiling(all, "bandwidth", "host", "load").at("condition") == "pinned pages, host");
    CHECK(ceiling(all, "latency", "launch", "launch").at("median").get<double>() == Approx(1 / 2e-6));
}

TEST_CASE("the ceiling of an all-reduce is that of its fastest message, and one rank has none")
{
    const Workbench bench;
    const json all = json::parse(calibrate_gpu(bench, {"--json"}).out).at("ceilings");
    CHECK(std::ranges::count_if(all, [](const json& c) { return c.at("level") == "nccl"; }) == 1);
    CHECK(ceiling(all, "bandwidth", "nccl", "bus").at("median").get<double>() == Approx(400e9));
}

TEST_CASE("tensor cores, CUDA cores and library products are separate ceilings, and the raw rate is the roof")
{
    const Workbench bench;
    const auto said = calibrate_gpu(bench, {"--json"});
    const json all = json::parse(said.out).at("ceilings");
    const auto with_isa = [&](const std::string& isa, const std::string& operation) {
        return std::ranges::count_if(all, [&](const json& c) {
            return c.at("kind") == "compute" && c.at("isa") == isa && c.at("operation") == operation &&
                   c.at("precision") == "bf16";
        });
    };
    CHECK(with_isa("wgmma", "tile") == 1);
    CHECK(with_isa("mma", "tile") == 1);
    CHECK(with_isa("cuda", "fma") == 1);
}

TEST_CASE("launches that were too hot are left out and reported, and the conditions of each are kept")
{
    const Workbench bench;
    const std::string folder = bench.path("run");
    REQUIRE(calibrate_gpu(bench, {"--quick", "--out", folder}).status == 0);
    CHECK_THAT(read_file(folder + "/measurements.csv"), Catch::Contains("the card was too hot: "));
    const std::string samples = read_file(folder + "/samples.csv");
    CHECK_THAT(samples, Catch::Contains("memory_clock_hz,power_w,temperature_c"));
    CHECK_THAT(samples, Catch::Contains("2600000000,512,61"));
}

TEST_CASE("a missing peer device is a row with the reason, and the calibration is complete")
{
    const Workbench bench;
    const std::string folder = bench.path("run");
    CHECK(calibrate_gpu(bench, {"--out", folder}).status == 0);
    CHECK_THAT(read_file(folder + "/measurements.csv"), Catch::Contains("there is no other GPU in this machine"));
}
