#include "workloads/cudnn/train_bench.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/device.hpp"
#include "ert/gpu/probes/capability.hpp"
#include "workloads/cudnn/candidates.hpp"
#include "workloads/cudnn/step.hpp"
#include "workloads/data/source.hpp"
#include "workloads/engine/choices.hpp"

#include <algorithm>
#include <cmath>

namespace roof::cudnn {
namespace {

using Words = std::vector<std::string>;

/// An axis of these words; of any text, if `legal` is empty.
Axis words(std::string name, std::string meaning, Words usual, Words legal)
{
    Axis axis;
    axis.name = std::move(name);
    axis.meaning = std::move(meaning);
    axis.usual = std::move(usual);
    axis.legal = std::move(legal);
    return axis;
}

float learning_rate(const Point& point)
{
    const double rate = point.number("lr");
    if (!std::isfinite(rate) || rate < 0)
        throw InputError("lr: a learning rate is no less than 0, not " + point.text("lr"));
    return static_cast<float>(rate);
}

Settings settings_of(const Point& point)
{
    return {
        .batch = static_cast<int>(point.integer("batch")),
        .parameters = point.text("parameters") == "hashed" ? engine::Parameters::hashed : engine::Parameters::random,
        .learning_rate = learning_rate(point),
        .precision = point.precision(),
        .algorithm = parse_algorithm(point.text("algorithm")),
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

/// A file name: letters and digits.
std::string slug(std::string text)
{
    std::ranges::replace_if(
        text, [](unsigned char letter) { return std::isalnum(letter) == 0; }, '-');
    return text;
}

}  // namespace

std::string_view TrainBench::sentence() const
{
    return "One training step on the GPU: forward, softmax cross-entropy, backward and SGD with momentum. FLOPs are "
           "those of "
           "convolutions and linear layers over the full window, forward and both gradients; the rest is not counted. "
           "The time "
           "is the device's, between events.";
}

std::vector<Axis> TrainBench::axes(const Machine&) const
{
    const std::vector<std::string> models = model::model_names();
    Axis batch = words("batch", "images", {"4", "32", "256"}, {});
    batch.numeric = true;
    batch.most = 65536;
    return {
        words("model", "network", models, models),
        batch,
        words("precision",
              "number format of activations and of the weights that are read; fp16 with loss scaling; sums and updates "
              "are fp32",
              {"tf32", "bf16"}, {"fp32", "tf32", "bf16", "fp16"}),
        words("algorithm", "of convolutions; auto: of each pass of each shape the fastest, tried once", {"auto"},
              {"auto", "direct", "gemm", "winograd", "fft"}),
        words("data", "synthetic, hashed, or a folder of class/image.jpg", {"synthetic"}, {}),
        words("parameters", "start of training; hashed: reproducible in any language, without dropout", {"random"},
              {"random", "hashed"}),
        words("lr", "learning rate", {"0.01"}, {}),
        words("graph", "a step as one captured CUDA graph, or launch by launch", {"on"}, {"on", "off"}),
        words("deterministic", "only what gives the same bits each time", {"off"}, {"off", "on"})};
}

std::optional<std::string> TrainBench::obstacle(const Point& point, const Machine&, const Device& device) const
{
    const Settings settings = settings_of(point);
    data::require_source(point.text("data"));
    const int least = settings.precision == Precision::fp32 || settings.precision == Precision::fp16 ? 75 : 80;
    if (const auto missing = gpu::missing_capability(device, least, "training in " + point.text("precision")))
        return missing;
    if (settings.algorithm == Algorithm::automatic) return std::nullopt;
    return lacking_algorithm(settings, device);
}

std::unique_ptr<Subject> TrainBench::make(const Point& point, const Machine& machine, const Device& device) const
{
    if (const auto reason = obstacle(point, machine, device)) throw Unsupported(*reason);
    const StepOptions options{
        .device = gpu::id_of(device),
        .device_model = device.model,
        .data = point.text("data"),
        .workers = machine.threads,
        .graph = point.text("graph") == "on",
        .choices = std::make_shared<engine::Choices>(
            cache_.empty() ? cache_ : cache_ / slug(device.model) / "cudnn_convolutions.csv"),
        .nvml = nvml_,
        .gradients = {},
    };
    return std::make_unique<Step>(model::build_model(point.text("model")), settings_of(point), options);
}

}  // namespace roof::cudnn
