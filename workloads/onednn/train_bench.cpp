#include "workloads/onednn/train_bench.hpp"

#include "workloads/engine/axes.hpp"
#include "workloads/engine/choices.hpp"
#include "workloads/onednn/convolution/passes.hpp"
#include "workloads/onednn/program/dnnl.hpp"
#include "workloads/onednn/step.hpp"
#include "workloads/parallel/options.hpp"
#include "workloads/parallel/place.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace roof::onednn {
namespace {

using engine::learning_rate;

/// oneDNN's layers between the convolutions have bf16 only with AVX-512.
std::optional<std::string> lacking_precision(const Point& point, const Machine& machine)
{
    const bool has_avx512 = std::ranges::find(machine.isa, "avx512") != machine.isa.end();
    if (point.precision() != Precision::bf16 || has_avx512) return std::nullopt;
    return "bf16 needs AVX-512: its dot products (avx512_bf16), or widened to fp32 its FMA";
}

std::optional<std::string> lacking_algorithm(const Point& point)
{
    const auto algorithm = parse_enum<Algorithm>(point.text("algorithm"));
    const bool is_lacking = algorithm == Algorithm::winograd && !offers_winograd(point.precision());
    if (!is_lacking && algorithm != Algorithm::fft) return std::nullopt;
    return "oneDNN " + library_version() + " has no convolution by '" + point.text("algorithm") + "' in " +
           point.text("precision") + " for this machine; 'direct' and 'auto' serve";
}

}  // namespace

TrainBench::TrainBench(std::filesystem::path memory, Build build)
    : Bench({"train", Role::step, "cpu",
             "One training step on the CPU: forward, softmax cross-entropy, backward and SGD with momentum. FLOPs are "
             "those of convolutions and linear layers over the full window, forward and both gradients; the rest is "
             "not counted."}),
      memory_(std::move(memory)),
      build_(std::move(build))
{
}

std::vector<Axis> TrainBench::axes(const Machine& machine) const
{
    const int threads = std::max(1, machine.threads);
    std::vector<Axis> all = engine::training_axes({.batches = {"4", "8", "16"},
                                                   .precisions = {"fp32"},
                                                   .allowed_precisions = {"fp32", "bf16"},
                                                   .algorithms = {"direct", "winograd", "gemm", "auto"}});
    all.push_back(
        {"threads", "threads, of all ranks on this machine together", {std::to_string(threads)}, {}, true, 1, threads});
    std::ranges::move(parallel::axes(), std::back_inserter(all));
    return all;
}

std::optional<std::string> TrainBench::unsupported_reason(const Point& point, const Machine& machine,
                                                          const Device&) const
{
    engine::require_legal(point);
    if (auto lacking = lacking_precision(point, machine)) return lacking;
    if (auto lacking = lacking_algorithm(point)) return lacking;
    return parallel::unsupported_reason(point);
}

std::unique_ptr<Subject> TrainBench::create(const Point& point, const Machine& machine, const Device& device) const
{
    const int ranks = parallel::options_of(point).ranks;
    if (ranks > 1)
        return make_on_ranks(point, machine,
                             parallel::open_world(parallel::assignment_of("train", device, point), ranks));
    return std::make_unique<Step>(build_(point.text("model")), settings_of(point, machine), point.text("data"),
                                  machine.threads);
}

std::unique_ptr<Subject> TrainBench::make_on_ranks(const Point& point, const Machine& machine,
                                                   const parallel::World& world) const
{
    const parallel::Options options = parallel::options_of(point);
    Settings settings = settings_of(point, machine);
    settings.threads = parallel::threads_of_rank(settings.threads, world.place.ranks_here);
    settings.ranks = world.communicator;
    settings.synchronised_batch_norm = options.synchronised_batch_norm;
    auto step = world.made_by_first(
        [&] {
            return std::make_unique<Step>(build_(point.text("model")), settings, point.text("data"), settings.threads,
                                          world.place);
        },
        [&] { return settings.choices->decisions(); },
        [&](const std::string& decisions) { settings.choices->follow(decisions); });
    step->train_with(world, options);
    return step;
}

Settings TrainBench::settings_of(const Point& point, const Machine& machine) const
{
    return {
        .batch = static_cast<int>(parallel::options_of(point).batch),
        .threads = static_cast<int>(point.integer("threads")),
        .parameters = engine::parameters_of(point),
        .learning_rate = learning_rate(point),
        .precision = point.precision(),
        .algorithm = parse_enum<Algorithm>(point.text("algorithm")),
        .choices = std::make_shared<Choices>(memory_.empty() ? memory_ : memory_ / machine.name / "convolutions.csv"),
    };
}

}  // namespace roof::onednn
