// Machines, ceilings, rows and studies with round numbers, so that placements can be checked by hand.
#pragma once

#include "analysis/report/report.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace roof::made {

/// An estimate from 9 samples whose interval is 10% to either side.
template <class Unit>
Estimate<Unit> about(double median)
{
    return {Unit{median}, Unit{0.9 * median}, Unit{1.1 * median}, 9, 0};
}

/// Two cores with a private L1 of 32 KiB and a private L2 of 512 KiB each.
inline Machine machine()
{
    Machine m;
    m.name = "made";
    m.cpu_model = "A made machine";
    m.cores = m.threads = 2;
    m.devices.push_back({"cpu", "cpu", "made", {{"L1", {32768}, 2, 1}, {"L2", {524288}, 2, 1}}, {}, {}, {}});
    return m;
}

inline Ceiling bandwidth(const std::string& level, int threads, double rate)
{
    Ceiling c;
    c.device = "cpu";
    c.level = level;
    c.operation = "load";
    c.isa = "avx2";
    c.threads = threads;
    c.rate = about<Hertz>(rate);
    return c;
}

inline Ceiling compute(const std::string& precision, int threads, double rate)
{
    Ceiling c = bandwidth("core", threads, rate);
    c.kind = Role::compute;
    c.operation = "fma";
    c.precision = precision;
    return c;
}

/// Two threads: L1 400 GB/s, L2 100 GB/s, DRAM 10 GB/s, fp32 100 GFLOP/s, fp64 50 GFLOP/s. One thread: half of each.
inline Ceilings ceilings()
{
    Ceilings c;
    for (const int threads : {1, 2}) {
        const double share = 0.5 * threads;
        c.all.push_back(bandwidth("L1", threads, 400e9 * share));
        c.all.push_back(bandwidth("L2", threads, 100e9 * share));
        c.all.push_back(bandwidth("DRAM", threads, 10e9 * share));
        c.all.push_back(compute("fp32", threads, 100e9 * share));
        c.all.push_back(compute("fp64", threads, 50e9 * share));
    }
    c.levels = {{"cpu", "L1", {1024}, {65536}, {}, {65536}, false},
                {"cpu", "L2", {131072}, {1048576}, {}, {4194304}, true},
                {"cpu", "DRAM", {4194304}, {67108864}, {}, {}, false}};
    return c;
}

inline PartMeasurement part(const std::string& layer, const std::string& kind, Phase phase, double seconds,
                            double flops, double compulsory, double no_reuse)
{
    return {{layer, kind, phase, {{flops}, {compulsory}, {no_reuse}, Known::analytic}, "made"},
            about<Seconds>(seconds)};
}

/// A step of 40 ms: a convolution bound by the compute roof, an unexplained one, a ReLU bound by memory, and an update.
inline Measurement row(const std::string& model = "net", int batch = 8, int threads = 2)
{
    Measurement r;
    r.bench = "train";
    r.device = "cpu";
    r.point.set("model", model);
    r.point.set("batch", std::to_string(batch));
    r.point.set("precision", "fp32");
    r.point.set("threads", std::to_string(threads));
    r.parts = {part("conv1", "convolution", Phase::forward, 0.0125, 1e9, 2e6, 4e9),
               part("relu1", "relu", Phase::forward, 0.001, 1e6, 8e6, 8e6),
               part("conv1", "convolution", Phase::backward, 0.020, 5e8, 4e6, 8e9),
               part("conv1", "convolution", Phase::update, 0.004, 3e6, 10e6, 10e6)};
    for (const PartMeasurement& p : r.parts) {
        r.work.flops += p.part.work.flops;
        r.work.compulsory += p.part.work.compulsory;
        r.work.no_reuse += p.part.work.no_reuse;
    }
    r.forward = about<Seconds>(0.0135);
    r.backward = about<Seconds>(0.020);
    r.update = about<Seconds>(0.004);
    r.seconds = about<Seconds>(0.040);
    r.samples = {{{0.040}, {0.010}, {0.0135}, {0.020}, {0.004}, 6.9, {}, {}, true}};
    r.memory = {1e9};
    return r;
}

/// A step of row() on this device.
inline Measurement on(const std::string& device, int batch, double seconds)
{
    Measurement r = row("net", batch);
    r.device = device;
    r.seconds = about<Seconds>(seconds);
    return r;
}

/// These roofs, seen at two times between which they differed by this half-width (Ceiling::between).
inline Ceilings seen_twice(double between = 0, Ceilings roofs = ceilings())
{
    for (Ceiling& ceiling : roofs.all) ceiling.between = between;
    return roofs;
}

inline Measurement failed(const std::string& model, const std::string& reason)
{
    Measurement r = row(model, 64);
    r.status = Status::out_of_memory;
    r.reason = reason;
    return r;
}

inline analysis::Study study(std::vector<Measurement> rows, Ceilings roofs = ceilings())
{
    analysis::Study s;
    s.results = {"results/made/run", machine(), "name: made\n", std::move(rows)};
    s.calibration = {"results/made/calibration", machine(), "name: calibrate\n", {}};
    s.ceilings = std::move(roofs);
    for (const Measurement& r : s.results.rows)
        for (analysis::Placement& p : analysis::place(r, s.ceilings, s.calibration.machine))
            s.placements.push_back(std::move(p));
    return s;
}

inline bool holds(std::string_view text, std::string_view part)
{
    return text.find(part) != text.npos;
}

/// The HTML of a panel.
inline std::string panel(std::string_view id, const analysis::Study& study)
{
    const auto found = std::ranges::find(analysis::panels(), id, &analysis::Panel::id);
    return html_of(content_of(*found, study, "key"));
}

}  // namespace roof::made
