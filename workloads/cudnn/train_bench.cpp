#include "workloads/cudnn/train_bench.hpp"

#include "ert/gpu/device.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/method/bench/chip.hpp"
#include "workloads/cudnn/library/candidates.hpp"
#include "workloads/cudnn/ranks.hpp"
#include "workloads/cudnn/step.hpp"
#include "workloads/parallel/place.hpp"

#include <cudnn.h>

#include <algorithm>

namespace roof::cudnn {
namespace {

std::optional<std::string> lacking_algorithm(const Settings& settings, const Device& device)
{
    const gpu::CurrentDevice current(gpu::id_of(device));
    if (offers(settings, current_device())) return std::nullopt;
    return "cuDNN " + library_version() + " offers no engine of the algorithm '" +
           std::string(name(settings.algorithm)) + "' in " + std::string(traits(settings.precision).name) +
           (settings.deterministic ? " that gives the same bits each time" : "") + " on this GPU; 'auto' serves";
}

/// Of cuDNN's support matrix: those for CUDA 12 up to 9.10 serve 5.0.
int least_of_library()
{
    constexpr std::size_t first_of_turing = 91100;
    return cudnnGetVersion() >= first_of_turing ? 75 : 50;
}

int ranks_here(const Point& point)
{
    const parallel::Place place = parallel::place_of_process();
    return place.launcher == parallel::Launcher::none ? parallel::options_of(point).ranks : place.ranks_here;
}

}  // namespace

TrainBench::TrainBench(std::filesystem::path memory, std::shared_ptr<const gpu::Nvml> nvml)
    : engine::TrainBench({.device_kind = "gpu",
                          .device = "the GPU",
                          .timing = " The time is the device's, between events.",
                          .batches = {"4", "32", "256"},
                          .precisions = {"tf32", "bf16"},
                          .allowed_precisions = {"fp32", "tf32", "bf16", "fp16"},
                          .precision_note = "fp16 with loss scaling; ",
                          .algorithms = {"auto", "direct", "gemm", "winograd", "fft"},
                          .make = step_maker(std::move(nvml))},
                         std::move(memory))
{
}

std::vector<Axis> TrainBench::own_axes(const Machine&) const
{
    return {{"graph", "a step as one captured CUDA graph, or launch by launch", {"on"}, {"on", "off"}},
            {"deterministic", "only what gives the same bits each time", {"off"}, {"off", "on"}}};
}

std::optional<std::string> TrainBench::lacking(const Point& point, const Machine& machine, const Device& device) const
{
    const Settings settings = settings_of(point, machine);
    if (auto missing = gpu::missing_capability(device, least_of_library(), "this cuDNN"))
        return *missing + "; of CUDA 12, cuDNN 9.10 serves 5.0 and newer";
    if (!multiplies(gpu::capability_of(device), point.text("precision")))
        return "this GPU" + gpu::of_capability(device) + " has no arithmetic in " + point.text("precision") +
               "; fp32 and fp16 train";
    if (auto missing = gpu::missing_in_build(device)) return missing;
    if (settings.algorithm == Algorithm::automatic) return std::nullopt;
    return lacking_algorithm(settings, device);
}

std::optional<std::string> TrainBench::lacking_for_ranks(const Point& point, const Device& device) const
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

bool TrainBench::exchanges_alone(const Point& point) const
{
    return point.has("communication");
}

/// The GPU's name with '-' for all but letters and digits.
std::filesystem::path TrainBench::choices_file(const Machine&, const Device& device) const
{
    std::string folder = device.model;
    std::ranges::replace_if(
        folder, [](unsigned char letter) { return !std::isalnum(letter); }, '-');
    return std::filesystem::path(folder) / "cudnn_convolutions.csv";
}

}  // namespace roof::cudnn
