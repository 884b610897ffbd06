#include "workloads/onednn/train_bench.hpp"

#include "ert/method/bench/bench_registry.hpp"
#include "workloads/engine/choices.hpp"
#include "workloads/onednn/convolution/passes.hpp"
#include "workloads/onednn/program/dnnl.hpp"
#include "workloads/onednn/step.hpp"

#include <algorithm>
#include <utility>

namespace roof::onednn {

TrainBench::TrainBench(std::filesystem::path memory, Build build)
    : engine::TrainBench({.device_kind = "cpu",
                          .device = "the CPU",
                          .batches = {"4", "8", "16"},
                          .precisions = {"fp32"},
                          .allowed_precisions = {"fp32", "bf16"},
                          .algorithms = {"direct", "winograd", "gemm", "auto"},
                          .make = make_step,
                          .build = std::move(build)},
                         std::move(memory))
{
}

std::vector<Axis> TrainBench::own_axes(const Machine& machine) const
{
    const int threads = std::max(1, machine.threads);
    return {
        {"threads", "threads, of all ranks on this machine together", {std::to_string(threads)}, {}, true, 1, threads}};
}

std::optional<std::string> TrainBench::lacking(const Point& point, const Machine&, const Device&) const
{
    const auto use = parse_enum<model::Use>(point.text_or("phase", "train"));
    if (auto reason = unsupported_precision(point.precision(), use)) return reason;
    const auto algorithm = parse_enum<Algorithm>(point.text("algorithm"));
    const bool is_lacking = algorithm == Algorithm::winograd && !offers_winograd(point.precision());
    if (!is_lacking && algorithm != Algorithm::fft) return std::nullopt;
    return "oneDNN " + library_version() + " has no convolution by '" + point.text("algorithm") + "' in " +
           point.text("precision") + " for this machine; 'direct' and 'auto' serve";
}

}  // namespace roof::onednn

namespace roof {

void add_onednn(BenchRegistry& registry)
{
    registry.machine().versions["oneDNN"] = onednn::library_version();
    registry.add(std::make_unique<onednn::TrainBench>(engine::choices_folder()));
}

}  // namespace roof
