#include "workloads/engine/train_bench.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/measurement.hpp"
#include "workloads/parallel/place.hpp"

#include <cmath>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace roof::engine {
namespace {

/// The point's `lr`. Throws InputError if it is negative or no number.
float learning_rate(const Point& point)
{
    const double rate = point.number("lr");
    if (!std::isfinite(rate) || rate < 0)
        throw InputError("lr: a learning rate is no less than 0, not " + point.text("lr"));
    return static_cast<float>(rate);
}

std::vector<Axis> training_axes(const TrainTraits& of_device)
{
    Axis model{"model", "network: a name, an ONNX file, a decoder's config.json, or its layers", model::model_names(),
               model::model_names()};
    std::ranges::move(model::token_model_names(), std::back_inserter(model.allowed));
    // What networks of tokens are trained with, unless a plan names another.
    const auto of_tokens = [](Axis axis, const std::function<std::string(int tokens)>& usual,
                              const std::string& else_usual = "") {
        axis.optional = else_usual.empty();
        axis.otherwise = [=](const Point& point) {
            const int tokens = model::usual_tokens(point.text("model"));
            return tokens > 0 ? usual(tokens) : else_usual;
        };
        return axis;
    };
    const Axis rate = of_tokens(
        {"lr", "learning rate; of networks of tokens 0.0006", {"0.01"}, {}}, [](int) { return "0.0006"; }, "0.01");
    const Axis optimizer = of_tokens(
        word_axis(
            "optimizer",
            "sgd: with momentum 0.9 and weight decay 1e-4; adamw, of networks of tokens: with betas 0.9 and 0.999, "
            "epsilon 1e-8 and weight decay 0.01",
            names_in(names_of(model::Optimizer{}).rows)),
        [](int) { return std::string(name(model::Optimizer::adamw)); });
    const Axis tokens = of_tokens(
        number_axis("tokens", "of a sequence, for networks of tokens; else as many as the network is known for",
                    {"1024"}, 1, 65536),
        [](int usual) { return std::to_string(usual); });
    Axis phase = word_axis(
        "phase",
        "train: the whole step; forward: the forward pass and its loss alone, as in training; of networks of "
        "tokens also prefill: the scores of the last token alone, and decode: one token, with those before in "
        "caches",
        names_in(names_of(model::Use{}).rows));
    phase.optional = true;
    model.file_endings = {model::network_ending, model::config_ending};
    model.takes_map = true;
    return {model,
            {"batch", "images", of_device.batches, {}, true, 1, 65536},
            {"precision",
             "number format of activations and of the weights that are read; " + of_device.precision_note +
                 "sums and updates are fp32",
             of_device.precisions, of_device.allowed_precisions},
            {"algorithm",
             "of convolutions; auto: of each pass of each shape the fastest, tried once",
             {of_device.algorithms.front()},
             of_device.algorithms},
            {"data", "synthetic, hashed, or a folder of class/image.jpg", {"synthetic"}, {}},
            {"parameters",
             "start of training; hashed: reproducible in any language, without dropout",
             {"random"},
             {"random", "hashed"}},
            rate,
            optimizer,
            tokens,
            phase};
}

model::Use use_of(const Point& point)
{
    return parse_enum<model::Use>(point.text_or("phase", name(model::Use::train)));
}

model::Graph network_of(const Point& point)
{
    const int tokens = point.has("tokens") ? static_cast<int>(point.integer("tokens")) : 0;
    return model::build_model(point.text("model"), 1000, tokens, use_of(point));
}

std::optional<std::string> lacking_of_tokens(const Point& point)
{
    const bool is_of_tokens =
        point.has("tokens") || use_of(point) == model::Use::prefill || use_of(point) == model::Use::decode;
    const std::string& model = point.text("model");
    if (model.ends_with(model::config_ending)) network_of(point);  // says why there is none
    if (!is_of_tokens || model::usual_tokens(model) > 0) return std::nullopt;
    return "networks of tokens are " + join(model::token_model_names(), ", ") + ", and a decoder's config.json";
}

}  // namespace

void require_legal(const Point& point)
{
    learning_rate(point);
    data::require_source(point.text("data"));
    const std::string& model = point.text("model");
    if (model::is_own_network(model) || model::usual_tokens(model) > 0) network_of(point);
}

TrainBench::TrainBench(TrainTraits traits, std::filesystem::path memory)
    : Bench({"train", Role::step, traits.device_kind,
             "One training step on " + traits.device +
                 ": forward, softmax cross-entropy, backward and the update, by SGD with momentum or by AdamW; "
                 "the forward pass alone in another phase. FLOPs are those of convolutions and linear layers over the "
                 "full window and of "
                 "attention over all pairs, forward and all gradients; the rest is not counted; " +
                 std::string(bytes_of_operations) + "." + traits.timing}),
      traits_(std::move(traits)),
      memory_(std::move(memory))
{
}

std::vector<Axis> TrainBench::axes(const Machine& machine) const
{
    std::vector<Axis> all = training_axes(traits_);
    for (const auto& some : {own_axes(machine), parallel::axes()}) all.insert(all.end(), some.begin(), some.end());
    return all;
}

std::optional<std::string> TrainBench::unsupported_reason(const Point& point, const Machine& machine,
                                                          const Device& device) const
{
    require_legal(point);
    if (auto reason = lacking_of_tokens(point)) return reason;
    if (auto reason = lacking(point, machine, device)) return reason;
    for (const std::string& other : device.others)
        if (auto reason = lacking(point, machine, machine.device(other))) return other + ": " + *reason;
    if (auto reason = parallel::unsupported_reason(point)) return reason;
    if (exchanges(point) && use_of(point) != model::Use::train)
        return "phase " + point.text("phase") + ": on one rank only";
    return exchanges(point) ? lacking_for_ranks(point, device) : std::nullopt;
}

Settings TrainBench::settings_of(const Point& point, const Machine& machine)
{
    return {.batch = static_cast<int>(parallel::options_of(point).batch),
            .threads = point.has("threads") ? static_cast<int>(point.integer("threads")) : machine.threads,
            .parameters = point.text("parameters") == "hashed" ? Parameters::hashed : Parameters::random,
            .trains = use_of(point) == model::Use::train,
            .learning_rate = learning_rate(point),
            .optimizer = parse_enum<model::Optimizer>(point.text_or("optimizer", "sgd")),
            .precision = point.precision(),
            .algorithm = parse_enum<Algorithm>(point.text("algorithm")),
            .deterministic = point.text_or("deterministic", "off") == "on"};
}

std::unique_ptr<Subject> TrainBench::create(const Point& point, const Machine& machine, const Device& device) const
{
    Settings settings = settings_of(point, machine);
    settings.choices = std::make_shared<Choices>(memory_.empty() ? memory_ : memory_ / choices_file(machine, device));
    // Of a step that is measured by several processes: the first writes its choices, the others follow them.
    const char* const of_all = std::getenv("ROOF_CHOICES");
    const std::filesystem::path handed = of_all == nullptr ? "" : of_all;
    const bool is_first = !handed.empty() && !std::filesystem::exists(handed);
    if (!handed.empty() && !is_first) settings.choices->follow(read_file(handed));
    const auto make = [&](int workers, const parallel::World* world) {
        const model::Graph graph = traits_.build ? traits_.build(point.text("model")) : network_of(point);
        return traits_.make({point, device, graph, settings, workers, world});
    };
    if (parallel::place_of_process().rank == 0 && !exchanges(point)) {
        auto step = make(machine.threads, nullptr);
        if (is_first) write_file(handed, settings.choices->decisions());
        return step;
    }

    const parallel::Options options = parallel::options_of(point);
    const parallel::World world = parallel::open_world(parallel::assignment_of("train", device, point), options.ranks);
    settings.threads = parallel::threads_of_rank(settings.threads, world.place.ranks_here);
    settings.ranks = world.communicator;
    settings.ranks_here = world.place.ranks_here;
    settings.synchronised_batch_norm = options.synchronised_batch_norm;
    auto step = world.made_by_first(
        [&] {
            if (const auto reason = lacking(point, machine, device)) throw Unsupported(*reason);
            return make(settings.threads, &world);
        },
        [&] { return settings.choices->decisions(); },
        [&](const std::string& decisions) { settings.choices->follow(decisions); });
    step->train_with(world, options);
    return step;
}

}  // namespace roof::engine
