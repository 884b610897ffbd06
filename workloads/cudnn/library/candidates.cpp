#include "workloads/cudnn/library/candidates.hpp"

#include "ert/base/error.hpp"

#include <algorithm>
#include <functional>

namespace roof::cudnn {
namespace {

/// Of the wanted algorithm; none is of the automatic one.
auto is_wanted_by(const Settings& settings)
{
    return [&settings](const Engine& engine) { return engine.notes.algorithm() == name(settings.algorithm); };
}

}  // namespace

bool is_allowed(const EngineNotes& notes, const Settings& settings)
{
    if (settings.deterministic && !notes.deterministic) return false;
    const bool full = settings.precision == Precision::fp32;
    return !full || (!notes.tensor_core && !notes.rounds_inputs);
}

std::vector<Engine> allowed_engines(const ConvolutionPass& shape, const Settings& settings, const Descriptor& device)
{
    std::vector<Engine> found;
    try {
        found = engines_for(convolution_graph(shape), device);
    } catch (const Unsupported&) {
        return {};  // no graph of this kind
    }
    std::erase_if(found, [&](const Engine& engine) { return !is_allowed(engine.notes, settings); });
    const auto is_wanted = is_wanted_by(settings);
    if (std::ranges::any_of(found, is_wanted)) std::erase_if(found, std::not_fn(is_wanted));
    return found;
}

std::optional<PlannedEngine> planned(const Engine& engine, const Descriptor& device)
{
    try {
        return PlannedEngine{engine, plan_of(engine, device)};
    } catch (const Error&) {
        return std::nullopt;  // the heuristics suggest it, but the device does not support it
    }
}

bool offers(const Settings& settings, const Descriptor& device)
{
    const ConvolutionPass usual{
        {.batch = 8, .source = {64, 56, 56}, .result = {64, 56, 56}, .window = {.size = 3, .stride = 1, .padding = 1}},
        Pass::forward,
        settings.precision};
    return std::ranges::any_of(allowed_engines(usual, settings, device), is_wanted_by(settings));
}

std::string chooser_of(const Settings& settings, const std::string& device_model)
{
    std::string who = "cuDNN " + library_version() + " on " + device_model;
    if (settings.algorithm != Algorithm::automatic) who += "; " + std::string(name(settings.algorithm));
    if (settings.deterministic) who += "; deterministic";
    if (!settings.tune) who += "; not timed";
    return who;
}

Choice choice_of(const PlannedEngine& candidate, bool fused)
{
    const EngineNotes& notes = candidate.engine.notes;
    return {.plan = -1,
            .workspace = static_cast<std::size_t>(candidate.plan.workspace),
            .implementation = "cudnn:" + candidate.engine.name,
            .algorithm = std::string(notes.algorithm()),
            .winograd_tile = notes.winograd_tile,
            .fused = fused};
}

}  // namespace roof::cudnn
