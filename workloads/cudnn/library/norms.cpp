#include "workloads/cudnn/library/norms.hpp"

#include "ert/base/error.hpp"
#include "workloads/cudnn/library/norm_graph.hpp"
#include "workloads/cudnn/library/trial.hpp"
#include "workloads/engine/recipe.hpp"

#include <algorithm>

namespace roof::cudnn {
namespace {

constexpr const char* own_kernels = "roof";  ///< name of our kernels in the file of choices

// A plan reads it when it is enqueued. cuDNN's addresses are not const.
constexpr float epsilon = engine::batch_norm_epsilon;
constexpr float share_of_batch = engine::batch_norm_momentum;

Descriptor addresses_of(const LibraryNorm& norm, const Memory& memory)
{
    return address_pack({{norm_source, memory.at(norm.source)},
                         {norm_weight, memory.at(norm.weight)},
                         {norm_bias, memory.at(norm.bias)},
                         {norm_mean, memory.at(norm.channels.mean)},
                         {norm_inverse_deviation, memory.at(norm.channels.inverse_deviation)},
                         {norm_running_mean, memory.at(norm.running_mean)},
                         {norm_running_variance, memory.at(norm.running_variance)},
                         {norm_next_mean, memory.at(norm.running_mean)},
                         {norm_next_variance, memory.at(norm.running_variance)},
                         {norm_epsilon, const_cast<float*>(&epsilon)},
                         {norm_share, const_cast<float*>(&share_of_batch)},
                         {norm_result, memory.at(norm.result)}},
                        memory.at(norm.workspace));
}

Descriptor addresses_of(const LibraryNormGradient& norm, const Memory& memory)
{
    std::vector<Address> all{{norm_source, memory.at(norm.source)},
                             {norm_weight, memory.at(norm.weight)},
                             {norm_mean, memory.at(norm.channels.mean)},
                             {norm_inverse_deviation, memory.at(norm.channels.inverse_deviation)},
                             {norm_gradient_given, memory.at(norm.gradient)},
                             {norm_sum, memory.at(norm.sum)},
                             {norm_sum_of_products, memory.at(norm.sum_of_products)},
                             {norm_result, memory.at(norm.result)}};
    if (norm.shape.relu) all.push_back({norm_output, memory.at(norm.output)});
    return address_pack(all, memory.at(norm.workspace));
}

/// Returns the library's engines that the settings allow; none if it does not support the graph.
std::vector<Engine> offered_for(const NormShape& shape, const Settings& settings, const Descriptor& device)
{
    try {
        std::vector<Engine> engines = engines_for(norm_graph(shape), device);
        std::erase_if(engines,
                      [&](const Engine& engine) { return settings.deterministic && !engine.notes.deterministic; });
        return engines;
    } catch (const Unsupported&) {
        return {};
    }
}

}  // namespace

Norms::Norms(const gpu::Stream& stream, const Settings& settings, std::shared_ptr<engine::Choices> choices,
             std::string device_model)
    : stream_(stream),
      settings_(settings),
      choices_(std::move(choices)),
      device_model_(std::move(device_model)),
      handle_(stream.get()),
      device_(current_device())
{
}

Choice Norms::choose(const NormShape& shape)
{
    const auto [place, is_new] = known_.try_emplace(shape);
    if (!is_new) return place->second;
    if (const std::optional<Candidate> found = find(shape)) {
        place->second = choice_of(*found, shape.relu);
        place->second.plan = static_cast<int>(chosen_.size());
        chosen_.push_back(*found);
    }
    return place->second;
}

std::optional<Candidate> Norms::find(const NormShape& shape)
{
    const auto known = choices_ ? choices_->find(question(shape)) : std::nullopt;
    if (known == own_kernels || !settings_.tune) return std::nullopt;
    const std::vector<Engine> engines = offered_for(shape, settings_, device_);
    const auto same = std::ranges::find_if(engines, [&](const Engine& engine) { return engine.name == known; });
    if (same != engines.end()) {
        if (std::optional<Candidate> one = planned(*same, device_)) return one;
    }
    // Most engines are compiled at run time (a good part of a second each): only the heuristics' first is tried.
    const std::optional<Candidate> first = engines.empty() ? std::nullopt : planned(engines.front(), device_);
    try {
        return first && is_better(shape, *first) ? first : std::nullopt;
    } catch (const OutOfMemory&) {
        return std::nullopt;  // no memory for both: our kernels need no workspace
    }
}

/// Whether the candidate is faster than our kernels and gives the same values. Keeps the choice.
bool Norms::is_better(const NormShape& shape, const Candidate& offered)
{
    const NormTrial trial(shape, static_cast<std::size_t>(offered.plan.workspace), stream_);
    const Descriptor addresses =
        shape.backward ? addresses_of(trial.backward(), trial.memory()) : addresses_of(trial.forward(), trial.memory());
    const auto run = running(offered, handle_, addresses);
    const Fastest fastest = fastest_of(stream_, {[&] { trial.enqueue_own(); }, run});
    const bool is_chosen = fastest.candidate == 1 && trial.agrees(run);
    if (choices_)
        choices_->remember(question(shape), is_chosen ? offered.engine.name : own_kernels, Seconds{fastest.cost});
    return is_chosen;
}

engine::Question Norms::question(const NormShape& shape) const
{
    return {"batch norm of " + text(shape), shape.backward ? "backward" : "forward",
            std::string(traits(shape.precision).name), 1, chooser_of(settings_, device_model_)};
}

std::function<void()> Norms::bound(const LibraryNorm& operation, const Memory& memory) const
{
    return running(chosen_[static_cast<std::size_t>(operation.plan)], handle_, addresses_of(operation, memory));
}

std::function<void()> Norms::bound(const LibraryNormGradient& operation, const Memory& memory) const
{
    return running(chosen_[static_cast<std::size_t>(operation.plan)], handle_, addresses_of(operation, memory));
}

}  // namespace roof::cudnn
