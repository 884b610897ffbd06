#include "workloads/cudnn/library/norms.hpp"

#include "workloads/cudnn/library/bind.hpp"
#include "workloads/cudnn/library/layers_trial.hpp"
#include "workloads/engine/recipe.hpp"
#include "workloads/model/work.hpp"

#include <algorithm>

namespace roof::cudnn {
namespace {

// In the file of choices.
constexpr const char* own_kernels = "roof";
constexpr const char* by_moments = "moments";
constexpr const char* by_passes = "passes";

// A plan reads it, and the operation's epsilon, when it is enqueued. cuDNN's addresses are not const.
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
                         {norm_epsilon, const_cast<float*>(&norm.shape.epsilon)},
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

/// A library that knows one candidate.
struct OneCandidate {
    const Candidate& candidate;
    const Handle& handle;

    template <class Norm>
    auto bound(const Norm& norm, const Memory& memory) const
        -> decltype(running(candidate, handle, addresses_of(norm, memory)))
    {
        return running(candidate, handle, addresses_of(norm, memory));
    }
};

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
    const engine::Question asked =
        question("batch norm of " + text(shape), shape.backward ? "backward" : "forward", shape.precision);
    const auto kept = known(asked);
    if (kept == own_kernels || !settings_.tune) return std::nullopt;
    const std::vector<Engine> engines = offered_for(shape, settings_, device_);
    const auto same = std::ranges::find(engines, kept, &Engine::name);
    if (same != engines.end()) {
        if (std::optional<Candidate> one = planned(*same, device_)) return one;
    }
    // Most engines are compiled at run time (a good part of a second each): only the heuristics' first is tried.
    const std::optional<Candidate> first = engines.empty() ? std::nullopt : planned(engines.front(), device_);
    if (!first) return std::nullopt;
    const auto both = [&] { return fastest_right(shape, *first); };
    return tried(asked, {own_kernels, first->engine.name}, both) == 1 ? first : std::nullopt;
}

/// The faster of our kernels and the candidate; our kernels if it gives other values.
Fastest Norms::fastest_right(const NormShape& shape, const Candidate& offered) const
{
    Choice choice = choice_of(offered, shape.relu);
    choice.plan = 0;
    const OneCandidate library{offered, handle_};
    const LayersTrial trial = norm_trial(shape, choice, [&](const ir::Operation& operation, const Memory& memory) {
        return cudnn::bound(operation, memory, stream_, library);
    });
    Fastest fastest = fastest_of(stream_, {[&] { trial.enqueue(0); }, [&] { trial.enqueue(1); }});
    if (fastest.candidate == 0) return fastest;
    trial.run();
    if (!trial.agrees()) fastest.candidate = 0;
    return fastest;
}

std::function<void()> Norms::bound(const LibraryNorm& operation, const Memory& memory) const
{
    return running(chosen_[static_cast<std::size_t>(operation.plan)], handle_, addresses_of(operation, memory));
}

std::function<void()> Norms::bound(const LibraryNormGradient& operation, const Memory& memory) const
{
    return running(chosen_[static_cast<std::size_t>(operation.plan)], handle_, addresses_of(operation, memory));
}

bool NormedProducts::choose(const ConvolutionPass& forward)
{
    if (settings_.moments || !settings_.tune || settings_.deterministic) return settings_.moments;
    const auto [place, is_new] = known_.try_emplace(forward);
    if (!is_new) return place->second;
    const engine::Question asked = question(text(forward), "batch norm behind", forward.precision);
    if (const auto kept = known(asked)) return place->second = kept == by_moments;
    const auto both = [&] {
        const LayersTrial trial = moments_trial(forward, convolutions_, products_, stream_);
        trial.run();
        const bool is_right = trial.agrees();
        const RunInGraph ways[]{{stream_, [&] { trial.enqueue(0); }}, {stream_, [&] { trial.enqueue(1); }}};
        Fastest fastest = fastest_of(std::size(ways), [&](std::size_t way) { return ways[way].seconds(); });
        if (!is_right) fastest.candidate = 0;
        return fastest;
    };
    return place->second = tried(asked, {by_passes, by_moments}, both) == 1;
}

}  // namespace roof::cudnn
