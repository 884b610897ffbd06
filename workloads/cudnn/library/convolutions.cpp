#include "workloads/cudnn/library/convolutions.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "workloads/cudnn/library/convolution_trial.hpp"
#include "workloads/cudnn/library/trial.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace roof::cudnn {
namespace {

constexpr const char* in_two = "an engine of the bare pass";  ///< in the file of choices

Descriptor addresses_of(const Convolve& operation, const Memory& memory, void* workspace)
{
    std::vector<Address> all;
    const auto add = [&](std::int64_t number, const Tensor& tensor) {
        if (tensor) all.push_back({number, memory.at(tensor)});
    };
    add(number_source, operation.source);
    add(number_weights, operation.weights);
    add(number_result, operation.result);
    add(number_bias, operation.bias);
    add(number_scale, operation.scale);
    add(number_shift, operation.shift);
    add(number_sum, operation.sum);
    add(number_squares, operation.squares);
    return address_pack(all, workspace);
}

Descriptor addresses_in(ConvolutionTrial& trial, const Plan& plan)
{
    return addresses_of(trial.whole(), trial.memory(), trial.workspace(static_cast<std::size_t>(plan.workspace)));
}

/// Limit for scratch memory: larger batches need the rest.
std::size_t workspace_limit()
{
    std::size_t available = 0;
    std::size_t total = 0;
    gpu::check(cudaMemGetInfo(&available, &total));
    return available / 8;
}

/// Returns the plans to try, of the engines that support the device and need no more than `limit` bytes. The heuristics list the
/// most likely engines first, so planning ends after a time; of those that are compiled at run time, which takes a good part of a
/// second, only the first is planned.
std::vector<Candidate> planned_in_time(const std::vector<Engine>& among, const Descriptor& device, std::size_t limit)
{
    constexpr int least_tried = 2;
    constexpr Seconds most_time{0.25};
    const Clock clock = steady_clock();
    const Seconds begin = clock();
    std::vector<Candidate> all;
    int tried = 0;
    bool has_compiled = false;
    for (const Engine& engine : among) {
        if (tried >= least_tried && clock() - begin > most_time) break;
        if (engine.notes.compiled_at_run_time && std::exchange(has_compiled, true)) continue;
        ++tried;
        std::optional<Candidate> one = planned(engine, device);
        if (one && static_cast<std::size_t>(one->plan.workspace) <= limit) all.push_back(*std::move(one));
    }
    return all;
}

}  // namespace

Choice Convolutions::choose(const ConvolutionPass& shape)
{
    const auto [place, is_new] = plans_.try_emplace(shape, static_cast<int>(chosen_.size()));
    if (is_new) {
        chosen_.push_back(find(shape));
        chosen_.back().choice.plan = place->second;
    }
    return chosen_[static_cast<std::size_t>(place->second)].choice;
}

/// Chooses an engine for all that the shape has if that is the fastest, else one for the bare pass.
Convolutions::Chosen Convolutions::find(const ConvolutionPass& shape)
{
    if (!is_bare(shape)) {
        if (const std::optional<Chosen> whole = find_whole(shape)) return *whole;
    }
    const ConvolutionPass alone = bare(shape);
    if (const std::optional<Candidate> best = best_of(alone)) return {choice_of(*best, is_bare(shape)), *best};
    throw Unsupported("cuDNN " + library_version() + " has no engine for the " + std::string(name(shape.pass)) +
                      " pass of " + text(shape) + " in " + std::string(traits(settings_.precision).name) +
                      (settings_.deterministic ? ", the same bits each time" : "") + " on this GPU");
}

std::optional<Candidate> Convolutions::best_of(const ConvolutionPass& shape)
{
    const std::vector<Engine> engines = allowed_engines(shape, settings_, device_);
    if (!settings_.tune) return first(engines);
    if (const std::optional<Candidate> known = remembered(shape, engines)) return known;
    const auto tried = fastest(shape, engines);
    if (!tried) return std::nullopt;
    keep(question(shape), tried->first.engine.name, tried->second);
    return tried->first;
}

/// Nothing if no engine computes the whole shape, if one for the bare pass and our kernels beside it are faster, or if the
/// results differ.
std::optional<Convolutions::Chosen> Convolutions::find_whole(const ConvolutionPass& shape)
{
    const auto chosen = [](const Candidate& candidate) { return Chosen{choice_of(candidate, true), candidate}; };
    const bool is_for_norms = shape.prologue || shape.statistics;
    if (settings_.tune && known(question(shape)) == in_two) return std::nullopt;
    if (!settings_.tune && is_for_norms) return std::nullopt;  // only trials show that the results are right
    std::vector<Engine> engines = allowed_engines(shape, settings_, device_);
    // In bf16, all that cuDNN 9.19 offers an H100 for norms is compiled at run time, for a good part of a second each, and
    // made the steps of ResNet-50 0.3% to 10% slower.
    if (is_for_norms) std::erase_if(engines, [](const Engine& one) { return one.notes.compiled_at_run_time; });
    if (!settings_.tune) {
        const std::optional<Candidate> one = first(engines);
        return one ? std::optional(chosen(*one)) : std::nullopt;
    }
    if (const std::optional<Candidate> one = remembered(shape, engines)) return chosen(*one);
    std::optional<Candidate> whole;
    try {
        if (const auto tried = fastest(shape, engines)) whole = tried->first;
        const std::optional<Candidate> alone = whole ? best_of(bare(shape)) : std::nullopt;
        if (alone && !is_better(shape, *whole, *alone)) whole.reset();
    } catch (const OutOfMemory&) {
        return std::nullopt;  // no memory for both
    }
    keep(question(shape), whole ? whole->engine.name : in_two);
    return whole ? std::optional(chosen(*whole)) : std::nullopt;
}

bool Convolutions::is_better(const ConvolutionPass& shape, const Candidate& whole, const Candidate& alone) const
{
    ConvolutionTrial trial(shape, stream_);
    void* const workspace =
        trial.workspace(static_cast<std::size_t>(std::max(whole.plan.workspace, alone.plan.workspace)));
    const auto run_whole = running(whole, handle_, addresses_of(trial.whole(), trial.memory(), workspace));
    const auto run_alone = running(alone, handle_, addresses_of(trial.alone(), trial.memory(), workspace));
    return trial.gains(run_whole, run_alone) && trial.agrees(run_whole, run_alone);
}

bool Convolutions::reads_by_depth(const ConvolutionPass& first)
{
    constexpr const char* by_depth = "space to depth";
    if (!settings_.tune) return false;
    engine::Question asked = question(first);
    asked.pass = "layout of the images";
    if (const auto kept = known(asked)) return kept == by_depth;
    const auto both = [&] {
        std::vector<std::unique_ptr<ConvolutionTrial>> trials;
        std::array<std::vector<std::function<void()>>, 2> ways;
        for (std::size_t way = 0; way < ways.size(); ++way) {
            ConvolutionPass shape = way == 0 ? first : space_to_depth(first);
            for (const Pass pass : {Pass::forward, Pass::backward_weights}) {
                shape.pass = pass;
                const std::optional<Candidate> best = best_of(shape);
                trials.push_back(std::make_unique<ConvolutionTrial>(shape, stream_));
                if (best)
                    ways[way].push_back(running(*best, handle_, addresses_in(*trials.back(), best->plan)));
                else
                    ways[way].emplace_back([] { throw Error("no engine computes the pass"); });
            }
        }
        return fastest_of(ways.size(), [&](std::size_t way) {
            double sum = 0;
            for (const std::function<void()>& run : ways[way]) sum += seconds_of(stream_, run);
            return sum;
        });
    };
    return tried(asked, {"as they are", by_depth}, both) == 1;
}

/// Returns the fastest of an earlier run if it is among the engines. Makes no other plan.
std::optional<Candidate> Convolutions::remembered(const ConvolutionPass& shape, const std::vector<Engine>& among) const
{
    const auto found = std::ranges::find(among, known(question(shape)), &Engine::name);
    return found == among.end() ? std::nullopt : planned(*found, device_);
}

/// Returns the first candidate in the library's order without timing; engines that need no compilation come first.
std::optional<Candidate> Convolutions::first(std::vector<Engine> among) const
{
    std::ranges::stable_partition(among, [](const Engine& engine) { return !engine.notes.compiled_at_run_time; });
    for (const Engine& engine : among) {
        if (std::optional<Candidate> one = planned(engine, device_)) return one;
    }
    return std::nullopt;
}

/// Returns the fastest candidate of timed trials. Engines that fail are skipped; empty if all fail.
std::optional<std::pair<Candidate, Seconds>> Convolutions::fastest(const ConvolutionPass& shape,
                                                                   const std::vector<Engine>& among)
{
    if (among.empty()) return std::nullopt;
    const std::vector<Candidate> all = planned_in_time(among, device_, workspace_limit());
    if (all.empty()) return std::nullopt;
    ConvolutionTrial trial(shape, stream_);
    std::int64_t scratch = 0;
    for (const Candidate& one : all) scratch = std::max(scratch, one.plan.workspace);
    void* const workspace = trial.workspace(static_cast<std::size_t>(scratch));
    std::vector<std::function<void()>> runs;
    for (const Candidate& one : all)
        runs.push_back(running(one, handle_, addresses_of(trial.whole(), trial.memory(), workspace)));
    const Fastest fastest = fastest_of(stream_, runs);
    if (!std::isfinite(fastest.cost)) return std::nullopt;
    return std::pair(all[fastest.candidate], Seconds{fastest.cost});
}

std::function<void()> Convolutions::bound(const Convolve& operation, const Memory& memory) const
{
    return running(chosen_[static_cast<std::size_t>(operation.plan)].candidate, handle_,
                   addresses_of(operation, memory, memory.at(operation.workspace)));
}

}  // namespace roof::cudnn
