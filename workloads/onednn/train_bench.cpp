#include "workloads/onednn/train_bench.hpp"

#include "ert/base/error.hpp"
#include "workloads/data/source.hpp"
#include "workloads/onednn/choices.hpp"
#include "workloads/onednn/dnnl.hpp"
#include "workloads/onednn/step.hpp"
#include "workloads/parallel/cpus.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace roof::onednn {
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

/// An axis of whole numbers from 1 to `most`.
Axis numbers(std::string name, std::string meaning, Words usual, long long most)
{
    Axis axis = words(std::move(name), std::move(meaning), std::move(usual), {});
    axis.numeric = true;
    axis.most = most;
    return axis;
}

Axis optional(Axis axis)
{
    axis.optional = true;
    return axis;
}

/// Axes of training on several ranks. Where MPI started this process, its ranks are what is usual.
std::vector<Axis> parallel_axes()
{
    const parallel::Place place = parallel::place_of_process();
    constexpr long long most_ranks = 4096;
    constexpr long long most_megabytes = 100'000;
    Axis ranks = numbers("ranks", "processes that train together, each on its own images",
                         {std::to_string(place.ranks)}, most_ranks);
    ranks.optional = place.ranks == 1;
    return {ranks,
            optional(words("scaling", "weak: `batch` is that of one rank; strong: of all together", {"weak"},
                           {"weak", "strong"})),
            optional(words(
                "communication",
                "of gradients: overlapped with the backward pass; serial: after it; broadcast: reduced to rank 0, "
                "which sends its parameters each step",
                {"overlapped"}, {"overlapped", "serial", "broadcast"})),
            optional(numbers("bucket_mb", "megabytes of gradients in a message, at least", {"25"}, most_megabytes)),
            optional(words("batch_norm", "statistics of each rank's own batch, or of the batches of all", {"local"},
                           {"local", "synchronised"}))};
}

std::string value_or(const Point& point, const std::string& axis, const std::string& usual)
{
    return point.has(axis) ? point.text(axis) : usual;
}

int ranks_of(const Point& point)
{
    return point.has("ranks") ? static_cast<int>(point.integer("ranks")) : 1;
}

/// Images of one rank's batch.
long long batch_of_rank(const Point& point)
{
    const long long batch = point.integer("batch");
    return value_or(point, "scaling", "weak") == "strong" ? batch / ranks_of(point) : batch;
}

std::optional<std::string> obstacle_to_ranks(const Point& point)
{
    const int ranks = ranks_of(point);
    if (batch_of_rank(point) * (value_or(point, "scaling", "weak") == "strong" ? ranks : 1) != point.integer("batch"))
        return "a batch of " + point.text("batch") + " cannot be shared out evenly among " + std::to_string(ranks) +
               " ranks";
    const bool synchronised = value_or(point, "batch_norm", "local") == "synchronised";
    if (synchronised && point.precision() != Precision::fp32)
        return "synchronised batch norm is computed in fp32 alone";
    return parallel::obstacle_to(ranks, parallel::place_of_process());
}

float learning_rate(const Point& point)
{
    const double rate = point.number("lr");
    if (!std::isfinite(rate) || rate < 0)
        throw InputError("lr: a learning rate is no less than 0, not " + point.text("lr"));
    return static_cast<float>(rate);
}

/// bf16 without instructions for it is slower than fp32, and says nothing about a machine.
std::optional<std::string> lacking_precision(const Point& point, const Machine& machine)
{
    if (point.precision() != Precision::bf16) return std::nullopt;
    for (const char* feature : {"avx512_bf16", "amx_bf16"}) {
        if (std::ranges::find(machine.features, feature) != machine.features.end()) return std::nullopt;
    }
    return "emulated bf16 is slower than fp32 and proves nothing; this machine has neither avx512_bf16 nor amx_bf16";
}

std::optional<std::string> lacking_algorithm(const Point& point)
{
    if (parse_algorithm(point.text("algorithm")) != Algorithm::winograd || offers_winograd(point.precision()))
        return std::nullopt;
    return "oneDNN " + library_version() + " has no Winograd convolution in " + point.text("precision") +
           " for this machine; 'direct' and 'auto' serve";
}

}  // namespace

std::string_view TrainBench::sentence() const
{
    return "One training step on the CPU: forward, softmax cross-entropy, backward and SGD with momentum. FLOPs are "
           "those "
           "of convolutions and linear layers over the full window, forward and both gradients; the rest is not "
           "counted.";
}

std::vector<Axis> TrainBench::axes(const Machine& machine) const
{
    const std::vector<std::string> models = model::model_names();
    const int threads = std::max(1, machine.threads);
    std::vector<Axis> all{
        words("model", "network", models, models),
        numbers("batch", "images", {"4", "8", "16"}, 65536),
        words("precision", "number format of activations and of the weights that are read; sums and updates are fp32",
              {"fp32"}, {"fp32", "bf16"}),
        words("algorithm", "of convolutions; auto: of each pass of each shape the fastest, tried once", {"direct"},
              {"direct", "winograd", "gemm", "auto"}),
        words("data", "synthetic, hashed, or a folder of class/image.jpg", {"synthetic"}, {}),
        words("parameters", "start of training; hashed: reproducible in any language, without dropout", {"random"},
              {"random", "hashed"}),
        words("lr", "learning rate", {"0.01"}, {}),
        numbers("threads", "threads, of all ranks on this machine together", {std::to_string(threads)}, threads)};
    std::ranges::move(parallel_axes(), std::back_inserter(all));
    return all;
}

std::optional<std::string> TrainBench::obstacle(const Point& point, const Machine& machine, const Device&) const
{
    learning_rate(point);
    data::require_source(point.text("data"));
    if (auto lacking = lacking_precision(point, machine)) return lacking;
    if (auto lacking = lacking_algorithm(point)) return lacking;
    return obstacle_to_ranks(point);
}

std::unique_ptr<Subject> TrainBench::make(const Point& point, const Machine& machine, const Device& device) const
{
    const int ranks = ranks_of(point);
    if (ranks > 1)
        return make_on_ranks(point, machine,
                             parallel::open_world(parallel::assignment_of("train", device, point), ranks));
    return std::make_unique<Step>(model::build_model(point.text("model")), settings_of(point, machine),
                                  point.text("data"), machine.threads);
}

std::unique_ptr<Subject> TrainBench::make_on_ranks(const Point& point, const Machine& machine,
                                                   const parallel::World& world) const
{
    constexpr std::size_t megabyte = 1'000'000;
    Settings settings = settings_of(point, machine);
    settings.threads = parallel::threads_of_rank(settings.threads, world.place.ranks_here);
    settings.ranks = world.communicator;
    settings.synchronised_batch_norm = value_or(point, "batch_norm", "local") == "synchronised";
    auto pinned = std::make_unique<Pinned>(world.place, settings.threads);  // before memory is touched
    std::unique_ptr<Step> step;
    std::exception_ptr failure;
    try {
        step = std::make_unique<Step>(model::build_model(point.text("model")), settings, point.text("data"),
                                      settings.threads);
    } catch (...) {
        failure = std::current_exception();
    }
    parallel::agree(*world.communicator, failure);
    step->train_with(world,
                     {.mode = parallel::parse_mode(value_or(point, "communication", "overlapped")),
                      .bucket_bytes = std::stoul(value_or(point, "bucket_mb", "25")) * megabyte},
                     std::move(pinned));
    return step;
}

Settings TrainBench::settings_of(const Point& point, const Machine& machine) const
{
    return {
        .batch = static_cast<int>(batch_of_rank(point)),
        .threads = static_cast<int>(point.integer("threads")),
        .parameters = point.text("parameters") == "hashed" ? Parameters::hashed : Parameters::random,
        .learning_rate = learning_rate(point),
        .precision = point.precision(),
        .algorithm = parse_algorithm(point.text("algorithm")),
        .choices = std::make_shared<Choices>(memory_.empty() ? memory_ : memory_ / machine.name / "convolutions.csv"),
    };
}

}  // namespace roof::onednn
