#include "workloads/cudnn/library/plans.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "workloads/cudnn/library/pass_graphs.hpp"
#include "workloads/cudnn/library/trial.hpp"

#include <algorithm>

namespace roof::cudnn {
namespace {

// In the file of choices, beside the names of engines.
const std::string in_two = "an engine of the bare pass";
const std::string own_kernels = "roof";
const std::vector<std::string> layouts_of_images{"as they are", "space to depth"};
const std::vector<std::string> ways_of_statistics{"passes", "moments"};

// A plan reads it, and the operation's epsilon, when it is enqueued. cuDNN's addresses are not const.
constexpr float share_of_batch = engine::batch_norm_momentum;

/// Limit for scratch memory: larger batches need the rest.
std::size_t workspace_limit()
{
    std::size_t available = 0;
    std::size_t total = 0;
    gpu::check(cudaMemGetInfo(&available, &total));
    return available / 8;
}

/// Adds a plan for each engine, or none if it does not support the device, needs too much memory or is not tried. The
/// heuristics list the most likely engines first, so planning stops after some time. An engine that is compiled at run
/// time takes a good part of a second: of those only the first is planned.
void plan_in_time(const std::vector<Engine>& engines, const Descriptor& device, NumberedPlans& plans)
{
    constexpr int least_tried = 2;
    constexpr Seconds most_time{0.25};
    const std::size_t limit = workspace_limit();
    const Clock clock = steady_clock();
    const Seconds begin = clock();
    int tried = 0;
    bool has_compiled = false;
    for (const Engine& engine : engines) {
        std::optional<PlannedEngine>& one = plans.emplace_back();
        if (tried >= least_tried && clock() - begin > most_time) continue;
        if (engine.notes.compiled_at_run_time && std::exchange(has_compiled, true)) continue;
        ++tried;
        one = planned(engine, device);
        if (one && static_cast<std::size_t>(one->plan.workspace) > limit) one.reset();
    }
}

std::size_t largest_workspace(const NumberedPlans& plans)
{
    std::int64_t bytes = 0;
    for (const auto& one : plans) bytes = std::max(bytes, one ? one->plan.workspace : 0);
    return static_cast<std::size_t>(bytes);
}

/// Returns the first plan in the library's order without timing; engines that need no compilation come first.
std::optional<PlannedEngine> first_plan(std::vector<Engine> engines, const Descriptor& device)
{
    std::ranges::stable_partition(engines, [](const Engine& engine) { return !engine.notes.compiled_at_run_time; });
    for (const Engine& engine : engines) {
        if (std::optional<PlannedEngine> one = planned(engine, device)) return one;
    }
    return std::nullopt;
}

std::vector<std::string> names_of(const std::vector<Engine>& engines, std::vector<std::string> before = {})
{
    for (const Engine& engine : engines) before.push_back(engine.name);
    return before;
}

/// Returns the library's engines that the settings allow; none if it refuses the graph, for our own kernels do not.
template <class Shape>
std::vector<Engine> engines_of(const Shape& shape, const Settings& settings, const Descriptor& device)
{
    try {
        std::vector<Engine> engines = engines_for(graph_of(shape), device);
        std::erase_if(engines,
                      [&](const Engine& engine) { return settings.deterministic && !engine.notes.deterministic; });
        return engines;
    } catch (const Error&) {
        return {};
    }
}

}  // namespace

std::function<void()> PlansByNumber::bound(const Convolve& operation, const Memory& memory) const
{
    return running(operation.plan,
                   {{number_source, memory.at(operation.source)},
                    {number_weights, memory.at(operation.weights)},
                    {number_result, memory.at(operation.result)},
                    {number_bias, memory.at(operation.bias)},
                    {number_scale, memory.at(operation.scale)},
                    {number_shift, memory.at(operation.shift)},
                    {number_sum, memory.at(operation.sum)},
                    {number_squares, memory.at(operation.squares)}},
                   memory.at(operation.workspace));
}

std::function<void()> PlansByNumber::bound(const LibraryNorm& norm, const Memory& memory) const
{
    return running(norm.plan,
                   {{norm_source, memory.at(norm.source)},
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

std::function<void()> PlansByNumber::bound(const LibraryNormGradient& norm, const Memory& memory) const
{
    return running(norm.plan,
                   {{norm_source, memory.at(norm.source)},
                    {norm_weight, memory.at(norm.weight)},
                    {norm_mean, memory.at(norm.channels.mean)},
                    {norm_inverse_deviation, memory.at(norm.channels.inverse_deviation)},
                    {norm_gradient_given, memory.at(norm.gradient)},
                    {norm_sum, memory.at(norm.sum)},
                    {norm_sum_of_products, memory.at(norm.sum_of_products)},
                    {norm_result, memory.at(norm.result)},
                    {norm_output, memory.at(norm.output)}},
                   memory.at(norm.workspace));
}

std::function<void()> PlansByNumber::running(int number, std::vector<Address> addresses, void* workspace) const
{
    std::erase_if(addresses, [](const Address& one) { return one.at == nullptr; });  // the plan has no such tensor
    const std::optional<PlannedEngine>& plan = plans_[static_cast<std::size_t>(number)];
    if (!plan) return [] { throw Error("no plan computes this"); };
    return [pack = address_pack(addresses, workspace), plan = plan->plan.descriptor, handle = handle_.get(),
            engine = plan->engine.name] { check(cudnnBackendExecute(handle, plan.get(), pack.get()), engine); };
}

Plans::Plans(const gpu::Stream& stream, const Settings& settings, std::string device_model, Products& products)
    : stream_(stream), settings_(settings), device_model_(std::move(device_model)), products_(products)
{
    if (!settings_.choices) settings_.choices = std::make_shared<engine::Choices>();
}

engine::Question Plans::question(const std::string& shape, std::string_view pass, Precision precision) const
{
    return {.shape = shape,
            .pass = std::string(pass),
            .precision = std::string(traits(precision).name),
            .library = chooser_of(settings_, device_model_)};
}

/// The candidate to use: the remembered one, or the fastest by a trial of the ways that `write` adds for them, by these
/// plans.
std::size_t Plans::fastest(const engine::Question& asked, const std::vector<std::string>& names,
                           const NumberedPlans& plans, const std::function<void(Trial&)>& write) const
{
    return settings_.choices->fastest(asked, names, [&]() -> engine::CandidateSeconds {
        const auto trial = std::make_shared<Trial>(stream_);
        write(*trial);
        trial->place("trying " + asked.shape, [&](const ir::Operation& operation, const Memory& memory) {
            return cudnn::bound(operation, memory, stream_, PlansByNumber{plans, handle_}, products_);
        });
        return [trial](std::size_t way) { return trial->seconds(way); };
    });
}

/// The first where the library has no implementation of a part, or memory does not hold all; that is not kept in the
/// file.
std::size_t Plans::fastest_or_first(const engine::Question& asked, const std::vector<std::string>& names,
                                    const NumberedPlans& plans, const std::function<void(Trial&)>& write)
{
    if (impossible_.contains(asked)) return 0;
    try {
        return fastest(asked, names, plans, write);
    } catch (const Unsupported&) {
        impossible_.insert(asked);
    } catch (const OutOfMemory&) {
        impossible_.insert(asked);
    }
    return 0;
}

Choice Plans::keep(const AnyShape& shape, const PlannedEngine& candidate, bool is_fused)
{
    Choice choice = choice_of(candidate, is_fused);
    choice.plan = static_cast<int>(chosen_.size());
    chosen_.emplace_back(candidate);
    return known_[shape] = choice;
}

/// Chooses an engine for all that the shape has if that is the fastest, else one for the bare pass.
Choice Plans::choose(const ConvolutionPass& shape)
{
    if (const auto known = known_.find(shape); known != known_.end()) return known->second;
    if (!is_bare(shape)) {
        if (const std::optional<PlannedEngine> whole = fastest_whole(shape)) return keep(shape, *whole, true);
    }
    if (const std::optional<PlannedEngine> one = fastest_bare(bare(shape))) return keep(shape, *one, is_bare(shape));
    throw Unsupported("cuDNN " + library_version() + " has no engine for the " + std::string(name(shape.pass)) +
                      " pass of " + text(shape) + " in " + std::string(traits(settings_.precision).name) +
                      (settings_.deterministic ? ", the same bits each time" : "") + " on this GPU");
}

std::optional<PlannedEngine> Plans::fastest_bare(const ConvolutionPass& shape) const
{
    const std::vector<Engine> engines = allowed_engines(shape, settings_, device_);
    if (!settings_.tune) return first_plan(engines, device_);
    NumberedPlans plans;
    const auto write = [&](Trial& trial) {
        plan_in_time(engines, device_, plans);
        Convolve one = convolution_in(trial, shape, largest_workspace(plans));
        for (one.plan = 0; one.plan < static_cast<int>(plans.size()); ++one.plan) trial.add({.timed = {one}});
    };
    try {
        const std::size_t found =
            fastest(question(text(shape), name(shape.pass), shape.precision), names_of(engines), plans, write);
        const std::optional<PlannedEngine> one = plans.empty() ? planned(engines[found], device_) : plans[found];
        return one ? one : first_plan(engines, device_);
    } catch (const Unsupported&) {
        return std::nullopt;  // none of them runs
    }
}

/// Nothing if no engine computes the whole shape, if one for the bare pass and our kernels beside it are faster, or if
/// the results differ.
std::optional<PlannedEngine> Plans::fastest_whole(const ConvolutionPass& shape)
{
    const bool is_for_norms = shape.prologue || shape.statistics;
    if (!settings_.tune && is_for_norms) return std::nullopt;  // only trials show that the results are right
    std::vector<Engine> engines = allowed_engines(shape, settings_, device_);
    // In bf16, all that cuDNN 9.19 offers an H100 for norms is compiled at run time, for a good part of a second each,
    // and made the steps of ResNet-50 0.3% to 10% slower.
    if (is_for_norms) std::erase_if(engines, [](const Engine& one) { return one.notes.compiled_at_run_time; });
    if (!settings_.tune) return first_plan(engines, device_);
    if (engines.empty()) return std::nullopt;
    NumberedPlans plans;
    const auto write = [&](Trial& trial) {
        plans.push_back(fastest_bare(bare(shape)));
        plan_in_time(engines, device_, plans);
        add_convolution(trial, convolution_in(trial, shape, largest_workspace(plans)), engines.size());
    };
    const std::size_t found = fastest_or_first(question(text(shape), name(shape.pass), shape.precision),
                                               names_of(engines, {in_two}), plans, write);
    if (found == 0) return std::nullopt;
    return plans.empty() ? planned(engines[found - 1], device_) : plans[found];
}

bool Plans::reads_by_depth(const ConvolutionPass& first)
{
    // Patches side by side are a product then; for 3 channels and so long a stride cuDNN has no engine in bf16.
    constexpr int least_patch = 16;
    if (first.window.stride == first.window.size && first.window.stride >= least_patch) return true;
    if (!settings_.tune) return false;
    NumberedPlans plans;
    const auto write = [&](Trial& trial) {
        for (const bool is_deep : {false, true}) {
            ConvolutionPass shape = is_deep ? space_to_depth(first) : first;
            Trial::Way way;
            for (const Pass pass : {Pass::forward, Pass::backward_weights}) {
                shape.pass = pass;
                plans.push_back(fastest_bare(shape));
                Convolve one = convolution_in(trial, shape, largest_workspace({plans.back()}));
                one.plan = static_cast<int>(plans.size()) - 1;
                way.timed.emplace_back(one);
            }
            trial.add(way);
        }
    };
    return fastest_or_first(question(text(first), "layout of the images", first.precision), layouts_of_images, plans,
                            write) == 1;
}

Choice Plans::choose(const NormShape& shape)
{
    return choose_or_ours(shape, shape.relu);
}

Choice Plans::choose(const AttentionPass& pass)
{
    return choose_or_ours(pass, true);
}

std::optional<Choice> Plans::by_products(const AttentionPass& pass) const
{
    try {
        const Choice choice = products_.by_products(pass, settings_.precision == Precision::tf32);
        return choice.workspace <= workspace_limit() ? std::optional(choice) : std::nullopt;
    } catch (const Unsupported&) {
        return std::nullopt;
    }
}

/// The fastest of our kernels, of products and of the library's first engine.
template <class Shape>
Choice Plans::choose_or_ours(const Shape& shape, bool is_fused)
{
    if (const auto known = known_.find(shape); known != known_.end()) return known->second;
    if (!settings_.tune) return known_[shape];
    std::vector<Engine> engines = engines_of(shape, settings_, device_);
    // Most are compiled at run time, a good part of a second each: only the heuristics' first is tried.
    if (!engines.empty()) engines.erase(engines.begin() + 1, engines.end());
    const std::optional<Choice> products = by_products(shape);
    if (engines.empty() && !products) return known_[shape];
    std::vector<std::string> names{own_kernels};
    if (products) names.push_back(products->implementation);
    const std::size_t of_library = names.size();
    NumberedPlans plans;
    const auto write = [&](Trial& trial) {
        plan_in_time(engines, device_, plans);
        std::vector<Choice> choices;
        if (products) choices.push_back(*products);
        for (const std::optional<PlannedEngine>& one : plans) {  // one at most
            choices.push_back(one ? choice_of(*one, is_fused) : Choice{});
            choices.back().plan = 0;
        }
        add_passes(trial, shape, choices);
    };
    const engine::Question asked = question(text(shape), shape.backward ? "backward" : "forward", shape.precision);
    const std::size_t found = fastest_or_first(asked, names_of(engines, names), plans, write);
    if (found == 0) return known_[shape];
    if (found < of_library) return known_[shape] = *products;
    const auto one = plans.empty() ? planned(engines.front(), device_) : plans[0];
    return one ? keep(shape, *one, is_fused) : known_[shape];
}

bool Plans::takes_moments(const ConvolutionPass& forward)
{
    if (settings_.moments || !settings_.tune || settings_.deterministic) return settings_.moments;
    const auto write = [&](Trial& trial) {
        Choosers passes = choosers();
        passes.norm = {};
        passes.deep_images = passes.moments = {};
        add_moments(trial, forward, passes);
    };
    return fastest_or_first(question(text(forward), "batch norm behind", forward.precision), ways_of_statistics,
                            chosen_, write) == 1;
}

}  // namespace roof::cudnn
