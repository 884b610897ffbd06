#include "workloads/cudnn/train_bench.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/device.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "workloads/cudnn/library/candidates.hpp"
#include "workloads/cudnn/step.hpp"
#include "workloads/engine/axes.hpp"
#include "workloads/engine/choices.hpp"
#include "workloads/engine/layers/layers.hpp"
#include "workloads/parallel/options.hpp"
#include "workloads/parallel/place.hpp"

#include <algorithm>
#include <iterator>

namespace roof::cudnn {
namespace {

using engine::learning_rate;

Settings settings_of(const Point& point)
{
    return {.batch = static_cast<int>(parallel::options_of(point).batch),
            .parameters = engine::parameters_of(point),
            .learning_rate = learning_rate(point),
            .precision = point.precision(),
            .algorithm = parse_enum<Algorithm>(point.text("algorithm")),
            .deterministic = point.text("deterministic") == "on"};
}

std::optional<std::string> lacking_algorithm(const Settings& settings, const Device& device)
{
    const gpu::CurrentDevice current(gpu::id_of(device));
    if (offers(settings.algorithm, settings, current_device())) return std::nullopt;
    return "cuDNN " + library_version() + " offers no engine of the algorithm '" +
           std::string(name(settings.algorithm)) + "' in " + std::string(traits(settings.precision).name) +
           (settings.deterministic ? " that gives the same bits each time" : "") + " on this GPU; 'auto' serves";
}

std::optional<std::string> lacking_on(const Point& point, const Device& device)
{
    if (const std::string model = point.text("model"); model::is_own_network(model)) {
        if (auto lacking = lacking_layers(model::build_model(model))) return lacking;
    }
    const Settings settings = settings_of(point);
    const int least = settings.precision == Precision::fp32 || settings.precision == Precision::fp16 ? 75 : 80;
    if (auto missing = gpu::missing_capability(device, least, "training in " + point.text("precision"))) return missing;
    if (settings.algorithm == Algorithm::automatic) return std::nullopt;
    return lacking_algorithm(settings, device);
}

/// A single rank uses NCCL if its point sets `communication`: this measures the cost of that path and tests it.
bool goes_by_nccl(const Point& point)
{
    return parallel::options_of(point).ranks > 1 || point.has("communication");
}

constexpr const char* lacking_nccl = "ranks on GPUs exchange gradients by NCCL, and libnccl.so.2 was not found";

int ranks_here(const Point& point)
{
    const parallel::Place place = parallel::place_of_process();
    return place.launcher == parallel::Launcher::none ? parallel::options_of(point).ranks : place.ranks_here;
}

std::optional<std::string> lacking_for_ranks(const Point& point, const Device& device)
{
    if (parallel::options_of(point).synchronised_batch_norm)
        return "on GPUs batch norm takes its statistics from each rank's own batch; 'local' serves";
    const int ranks = ranks_here(point);
    if (device.others.empty() && ranks > 1 && !may_share_gpu()) {
        return std::to_string(ranks) +
               " ranks want a GPU each, as --device gpu:0,1 gives them; to see two on one GPU work, which NCCL does "
               "not support, set NCCL_HOSTID to any word, or from 2.30 on NCCL_MULTI_RANK_GPU_ENABLE=1";
    }
    if (!device.others.empty() && ranks != static_cast<int>(device.others.size()) + 1) {
        return std::to_string(ranks) + " ranks were started on this machine for " +
               std::to_string(device.others.size() + 1) + " GPUs: each takes one, by its number there";
    }
    if (gpu::Nccl::open() == nullptr) return lacking_nccl;
    return std::nullopt;
}

/// Replaces all but letters and digits, for use in a file name.
std::string slug(std::string text)
{
    std::ranges::replace_if(
        text, [](unsigned char letter) { return std::isalnum(letter) == 0; }, '-');
    return text;
}

}  // namespace

TrainBench::TrainBench(std::filesystem::path cache, std::shared_ptr<const gpu::Nvml> nvml)
    : Bench({"train", Role::step, "gpu",
             "One training step on the GPU: forward, softmax cross-entropy, backward and SGD with momentum. FLOPs are "
             "those of convolutions and linear layers over the full window, forward and both gradients; the rest is "
             "not counted. The time is the device's, between events."}),
      cache_(std::move(cache)),
      nvml_(std::move(nvml))
{
}

std::vector<Axis> TrainBench::axes(const Machine&) const
{
    std::vector<Axis> all = engine::training_axes({.batches = {"4", "32", "256"},
                                                   .precisions = {"tf32", "bf16"},
                                                   .allowed_precisions = {"fp32", "tf32", "bf16", "fp16"},
                                                   .precision_note = "fp16 with loss scaling; ",
                                                   .algorithms = {"auto", "direct", "gemm", "winograd", "fft"}});
    all.push_back({"graph", "a step as one captured CUDA graph, or launch by launch", {"on"}, {"on", "off"}});
    all.push_back({"deterministic", "only what gives the same bits each time", {"off"}, {"off", "on"}});
    std::ranges::move(parallel::axes(), std::back_inserter(all));
    return all;
}

std::optional<std::string> TrainBench::unsupported_reason(const Point& point, const Machine& machine,
                                                          const Device& device) const
{
    engine::require_legal(point);
    if (auto lacking = lacking_on(point, device)) return lacking;
    for (const std::string& other : device.others) {
        if (auto lacking = lacking_on(point, machine.device(other))) return other + ": " + *lacking;
    }
    if (auto lacking = parallel::unsupported_reason(point)) return lacking;
    return goes_by_nccl(point) ? lacking_for_ranks(point, device) : std::nullopt;
}

std::unique_ptr<Subject> TrainBench::create(const Point& point, const Machine& machine, const Device& device) const
{
    if (parallel::place_of_process().rank > 0 || goes_by_nccl(point)) return make_on_ranks(point, machine, device);
    return make_step(point, device, machine.threads, {}, choices_of(device));
}

std::unique_ptr<Subject> TrainBench::make_on_ranks(const Point& point, const Machine& machine,
                                                   const Device& device) const
{
    const parallel::Options options = parallel::options_of(point);
    const parallel::World world = parallel::open_world(parallel::assignment_of("train", device, point), options.ranks);
    claim_own_machine(world.place);
    const auto library = gpu::Nccl::open();
    const auto choices = choices_of(device);
    auto step = world.made_by_first(
        [&] {
            if (library == nullptr) throw Unsupported(lacking_nccl);
            if (const auto reason = lacking_on(point, device)) throw Unsupported(*reason);
            return make_step(point, device, parallel::threads_of_rank(machine.threads, world.place.ranks_here),
                             {.rank = world.communicator->rank, .ranks = options.ranks}, choices);
        },
        [&] { return choices->decisions(); }, [&](const std::string& decisions) { choices->follow(decisions); });
    step->train_with(world, library, options, device.others.empty() && world.place.ranks_here > 1);
    return step;
}

std::shared_ptr<engine::Choices> TrainBench::choices_of(const Device& device) const
{
    return std::make_shared<engine::Choices>(cache_.empty() ? cache_
                                                            : cache_ / slug(device.model) / "cudnn_convolutions.csv");
}

std::unique_ptr<Step> TrainBench::make_step(const Point& point, const Device& device, int workers,
                                            const data::Share& share, std::shared_ptr<engine::Choices> choices) const
{
    Settings settings = settings_of(point);
    settings.share = share;
    const StepOptions options{
        .device = gpu::id_of(device),
        .device_model = device.model,
        .data = point.text("data"),
        .workers = workers,
        .graph = point.text("graph") == "on",
        .choices = std::move(choices),
        .nvml = nvml_,
        .gradients = {},
    };
    return std::make_unique<Step>(model::build_model(point.text("model")), settings, options);
}

}  // namespace roof::cudnn
