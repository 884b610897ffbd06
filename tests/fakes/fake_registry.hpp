// A registry without hardware and a clock turned by hand: the whole pipe, plan to report, without noise.
#pragma once

#include "ert/base/error.hpp"
#include "ert/method/bench/bench_registry.hpp"

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace roof::fakes {

/// Time stands still until somebody advances it.
struct ManualClock {
    std::shared_ptr<double> now = std::make_shared<double>(100.0);

    Clock clock() const
    {
        return [now = now] { return Seconds{*now}; };
    }
    void advance(double seconds) const { *now += seconds; }
};

/// Launches that take exactly the time they are told to.
class FakeSubject : public Subject {
  public:
    struct Script {
        Work work;
        std::vector<TimedPart> parts;
        std::vector<double> part_seconds;
        double rest_seconds = 0;  ///< of a launch, outside its parts
        double data_seconds = 0;
        std::function<double(int launch)> loss;
        std::function<double(int launch)> slower = [](int) { return 1.0; };
        std::function<void(int launches)> check = [](int) {};
        Bytes memory;
        std::vector<std::string> remarks;
        Hertz clock;  ///< that it says its cores ran at; 0: it does not say
    };
    FakeSubject(Script script, ManualClock clock) : script_(std::move(script)), clock_(std::move(clock)) {}

    Work work() const override { return script_.work; }
    void launch(Trace& trace) override
    {
        const double factor = script_.slower(launches_);
        if (script_.data_seconds > 0) {
            clock_.advance(script_.data_seconds);
            trace.waited_for_data(Seconds{script_.data_seconds});
        }
        for (std::size_t i = 0; i < script_.parts.size(); ++i) {
            const auto span = trace.part(i);
            clock_.advance(script_.part_seconds[i] * factor);
        }
        clock_.advance(script_.rest_seconds * factor);
        if (script_.loss) trace.saw_loss(script_.loss(launches_));
        if (script_.clock.value > 0) trace.ran_at(script_.clock);
        ++launches_;
    }
    void check() override { script_.check(launches_); }
    std::vector<TimedPart> parts() const override { return script_.parts; }
    std::vector<std::string> remarks() const override { return script_.remarks; }
    Bytes memory() const override { return script_.memory; }

  private:
    Script script_;
    ManualClock clock_;
    int launches_ = 0;
};

/// A bench whose subjects come from a function of the point.
class FakeBench : public Bench {
  public:
    using Make = std::function<FakeSubject::Script(const Point&)>;

    FakeBench(std::string name, Role role, std::vector<Axis> axes, Make make, ManualClock clock,
              std::string device_kind = "cpu")
        : Bench({std::move(name), role, std::move(device_kind), "A made-up rate, for tests."}),
          axes_(std::move(axes)),
          make_(std::move(make)),
          clock_(std::move(clock))
    {
    }
    std::vector<Axis> axes(const Machine&) const override { return axes_; }
    std::optional<std::string> unsupported_reason(const Point& point, const Machine&, const Device&) const override
    {
        if (point.has("isa") && point.text("isa") == "avx512") return "the fake CPU has no avx512";
        return std::nullopt;
    }
    std::unique_ptr<Subject> create(const Point& point, const Machine&, const Device&) const override
    {
        return std::make_unique<FakeSubject>(make_(point), clock_);
    }

  private:
    std::vector<Axis> axes_;
    Make make_;
    ManualClock clock_;
};

inline Machine fake_machine()
{
    Machine machine;
    machine.name = "fake-2cpu";
    machine.node = "fake-node";
    machine.cpu_model = "Fake CPU";
    machine.vendor = "FakeVendor";
    machine.cores = machine.threads = 2;
    machine.isa = {"scalar", "avx2"};
    machine.versions["revision"] = "test";
    Device cpu;
    cpu.name = cpu.kind = "cpu";
    cpu.model = machine.cpu_model;
    cpu.memory = Bytes{16e9};
    cpu.levels = {{"L1", Bytes{32768}, 2, 1},
                  {"L2", Bytes{1048576}, 2, 1},
                  {"L3", Bytes{33554432}, 1, 2},
                  {"DRAM", Bytes{16e9}, 1, 2}};
    machine.devices.push_back(cpu);
    return machine;
}

/// Two launches of a training step of batch B take B * 10 ms: 60% forward, 30% backward, 10% update; batch 13 fails,
/// batch 4096 has no room.
inline FakeSubject::Script fake_step(const Point& point)
{
    const auto batch = static_cast<double>(point.integer("batch"));
    if (batch == 4096) throw OutOfMemory(Bytes{1e12}, Bytes{16e9}, "the fake network");
    FakeSubject::Script script;
    const double step = batch * 0.01;
    const Work conv{Flops{6e9 * batch}, Bytes{1e7 * batch}, Bytes{1e10 * batch}};
    const Work fc{Flops{3e9 * batch}, Bytes{2e8}, Bytes{1e10 * batch}};
    const Work sgd{Flops{6e6}, Bytes{2e7}, Bytes{2e7}};
    script.parts = {{"conv1", "convolution", Phase::forward, conv, "fake:direct"},
                    {"fc", "linear", Phase::backward, fc, "fake:gemm"},
                    {"sgd", "update", Phase::update, sgd, "fake"}};
    script.part_seconds = {0.6 * step, 0.3 * step, 0.1 * step};
    script.work = {Flops{9e9 * batch}, Bytes{1e7 * batch + 2.2e8}, Bytes{2e10 * batch}};
    script.loss = [](int launch) { return 7.0 - launch; };
    script.memory = Bytes{1e6 * batch};
    if (batch == 7) script.remarks = {"one file was broken", "two were slow"};
    if (batch == 13) {
        script.check = [](int) { throw Error("the loss is not finite"); };
    }
    return script;
}

/// A memory of three levels over 100 GB/s DRAM, and a core of 50 GFLOP/s per thread.
inline BenchRegistry fake_registry(const ManualClock& clock)
{
    BenchRegistry registry;
    registry.machine() = fake_machine();
    registry.add(std::make_unique<FakeBench>(
        "train", Role::step,
        std::vector<Axis>{{"model", "the network", {"tinynet"}, {"tinynet", "widenet", "resnet18"}},
                          {"batch", "images", {"4", "8"}, {}, true, 1, 65536},
                          {"precision", "number format", {"fp32"}, {"fp32"}},
                          {"data", "where images come from", {"synthetic"}, {}},
                          {"parameters", "how weights start", {"random"}, {"random", "hashed"}},
                          {"lr", "learning rate", {"0.01"}, {}},
                          {"threads", "OpenMP threads", {"2"}, {}, true, 1, 2}},
        fake_step, clock));
    registry.add(std::make_unique<FakeBench>(
        "flops", Role::compute,
        std::vector<Axis>{{"operation", "instruction mix", {"fma"}, {"fma", "add"}},
                          {"isa", "instruction set", {"scalar", "avx2"}, {"scalar", "avx2", "avx512"}},
                          {"precision", "number format", {"fp32"}, {"fp32", "fp64"}},
                          {"threads", "OpenMP threads", {"1", "2"}, {}, true, 1, 2}},
        [](const Point& point) {
            FakeSubject::Script script;
            const double rate =
                50e9 * static_cast<double>(point.integer("threads")) * (point.text("isa") == "scalar" ? 0.1 : 1);
            script.work.flops = Flops{rate * 1e-3};
            script.rest_seconds = 1e-3;
            return script;
        },
        clock));
    registry.add(std::make_unique<FakeBench>(
        "bandwidth", Role::bandwidth,
        std::vector<Axis>{
            {"operation", "access", {"load", "copy"}, {"load", "copy"}},
            {"isa", "instruction set", {"avx2"}, {"scalar", "avx2", "avx512"}},
            {"threads", "OpenMP threads", {"2"}, {}, true, 1, 2},
            {"working_set",
             "bytes",
             {"8192", "16384", "32768", "65536", "131072", "262144", "524288", "1048576", "2097152", "4194304",
              "8388608", "16777216", "33554432", "67108864", "134217728", "268435456", "536870912"},
             {},
             true,
             1024,
             1LL << 40}},
        [](const Point& point) {
            const long long size = point.integer("working_set");
            const double rate = size <= 65536 ? 400e9 : size <= 2097152 ? 200e9 : size <= 33554432 ? 150e9 : 50e9;
            FakeSubject::Script script;
            script.work.compulsory = script.work.no_reuse = Bytes{rate * 1e-3};
            script.rest_seconds = 1e-3;
            return script;
        },
        clock));
    return registry;
}

}  // namespace roof::fakes
