#include "workloads/cudnn/candidates.hpp"

#include "ert/base/error.hpp"

#include <algorithm>

namespace roof::cudnn {
namespace {

bool is_of(const EngineNotes& notes, Algorithm algorithm)
{
    return algorithm == Algorithm::automatic || notes.algorithm() == name(algorithm);
}

}  // namespace

bool is_allowed(const EngineNotes& notes, const Settings& settings)
{
    if (settings.deterministic && !notes.deterministic) return false;
    const bool full = settings.precision == Precision::fp32;
    return !full || (!notes.tensor_core && !notes.rounds_inputs);
}

std::vector<Candidate> candidates(const ConvolutionShape& shape, const Settings& settings, const Descriptor& device)
{
    std::vector<Candidate> found;
    try {
        for (const Engine& engine : ConvolutionGraph(shape).engines(device)) {
            if (!is_allowed(engine.notes, settings)) continue;
            try {
                found.push_back({engine, plan_of(engine, device)});
            } catch (const Unsupported&) {
                continue;  // suggested, and yet not for this device
            }
        }
    } catch (const Unsupported&) {
        return {};  // no graph of this kind
    }
    const auto wanted = [&](const Candidate& one) { return is_of(one.engine.notes, settings.algorithm); };
    if (std::ranges::any_of(found, wanted)) std::erase_if(found, [&](const Candidate& one) { return !wanted(one); });
    return found;
}

bool offers(Algorithm algorithm, const Settings& settings, const Descriptor& device)
{
    if (algorithm == Algorithm::automatic) return true;
    const ConvolutionShape usual{.pass = Pass::forward,
                                 .batch = 8,
                                 .source = {64, 56, 56},
                                 .result = {64, 56, 56},
                                 .window = {.size = 3, .stride = 1, .padding = 1},
                                 .precision = settings.precision};
    const std::vector<Engine> engines = ConvolutionGraph(usual).engines(device);
    return std::ranges::any_of(engines, [&](const Engine& engine) {
        return is_allowed(engine.notes, settings) && is_of(engine.notes, algorithm);
    });
}

Choice choice_of(const Candidate& candidate, bool fused)
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
