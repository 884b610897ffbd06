#include "workloads/cudnn/library/trial.hpp"

#include "workloads/engine/layers/layers.hpp"
#include "workloads/engine/passes/passes.hpp"

#include <algorithm>
#include <map>

namespace roof::cudnn {
namespace {

constexpr float all_positive = 0.2F;
/// How far results are apart that are summed in another order, and that are rounded to 16 bits on the way.
constexpr double of_order = 1e-4;
constexpr double of_rounding = 1e-2;

/// Returns the tensor that the pass writes.
Tensor& written(Convolve& operation)
{
    if (operation.shape.pass == Pass::forward) return operation.result;
    return operation.shape.pass == Pass::backward_data ? operation.source : operation.weights;
}

Tensor per_channel(const Tensor& map)
{
    return {.batch = 1, .channels = map.channels};
}

/// The statistics of the result, by its own or the convolution's sums.
Statistics statistics_in(Trial& trial, const Convolve& operation)
{
    const Tensor outputs = per_channel(operation.result);
    const auto numbers = [&] { return trial.program().resident(outputs); };
    return {.source = operation.result,
            .weight = trial.value(outputs, pattern(all_positive)),
            .bias = trial.value(outputs, pattern(around_zero)),
            .sum = operation.sum,
            .squares = operation.squares,
            .channels = {numbers(), numbers(), numbers(), numbers()},
            .running_mean = numbers(),
            .running_variance = numbers(),
            .partial = trial.program().resident(partial_sums_of(operation.result))};
}

int last_of(const model::Graph& graph)
{
    return static_cast<int>(graph.layers().size()) - 1;
}

/// Removes what widens gradients of weights, which a step does for many together. Returns the gradients by their first
/// byte.
std::map<std::size_t, Tensor> take_narrow_gradients(List& list)
{
    std::map<std::size_t, Tensor> narrow;
    for (List::Stage& stage : list.stages) {
        for (Entry& entry : stage.entries) {
            const auto* const widen = std::get_if<Widen>(&entry.operation);
            if (widen == nullptr) continue;
            for (std::size_t k = 0; k < widen->from.size(); ++k) narrow[widen->to[k].begin] = widen->from[k];
            entry.is_removed = true;
        }
    }
    list.sweep();
    return narrow;
}

/// Writes the layers for an executor and returns their results.
std::vector<Tensor> write(Trial& trial, Builder& build, int first, const std::vector<Tensor>& outputs,
                          const Tensor& gradient, const Choosers& choosers)
{
    std::ranges::copy(outputs, build.outputs.begin());
    for (const Unit& unit : units_of(build.graph)) {
        if (unit.layer >= first) write_unit(build, unit);
    }
    const int last = last_of(build.graph);
    std::vector<Tensor> results{build.output(last)};
    for (const Running& running : build.running) results.insert(results.end(), {running.mean, running.variance});
    if (gradient) {
        build.give(last, gradient);
        for (auto backward = build.tape.rbegin(); backward != build.tape.rend(); ++backward) (*backward)();
        results.push_back(build.gradient(build.graph.layer(first).inputs.front()));
    }
    run_passes(build.list, build.settings, choosers);
    const std::map<std::size_t, Tensor> narrow = take_narrow_gradients(build.list);
    const std::vector<model::Parameter> parameters = build.graph.parameters();
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        if (parameters[k].layer < first) continue;
        const Trained& trained = build.parameters.all()[k];
        for (const Tensor& one : {trained.value, trained.read})
            trial.set(one, pattern(parameters[k].shape.size() == 1 ? all_positive : around_zero));
        const auto found = narrow.find(trained.gradient.begin);
        if (gradient) results.push_back(found == narrow.end() ? trained.gradient : found->second);
    }
    lower(build.list, build.settings, choosers);
    for (const Tensor& result : results) trial.program().keep(result);
    return results;
}

}  // namespace

Convolve convolution_in(Trial& trial, const ConvolutionPass& shape, std::size_t workspace)
{
    const Precision stored = shape.precision == Precision::tf32 ? Precision::fp32 : shape.precision;
    Convolve made{.shape = shape,
                  .source = trial.value(maps_of(shape.batch, shape.source, stored), pattern(-0.7F)),
                  .weights = trial.value({.batch = shape.result.channels,
                                          .channels = shape.source.channels / shape.groups,
                                          .height = shape.window.size,
                                          .width = shape.window.across().size,
                                          .precision = stored},
                                         pattern(around_zero)),
                  .result = trial.value(maps_of(shape.batch, shape.result, stored), pattern(-0.8F)),
                  .bias = {},
                  .workspace = trial.program().scratch(workspace)};
    if (made.workspace) trial.program().keep(made.workspace);
    Tensor bias = per_channel(made.result);
    bias.precision = stored;
    if (shape.bias) made.bias = trial.value(bias, pattern(around_zero));
    if (shape.prologue) {
        made.scale = trial.value(per_channel(made.source), pattern(all_positive));
        made.shift = trial.value(per_channel(made.source), pattern(around_zero));
    }
    if (shape.statistics) {
        made.sum = trial.program().resident(per_channel(made.result));
        made.squares = trial.program().resident(per_channel(made.result));
    }
    return made;
}

void add_convolution(Trial& trial, const Convolve& whole, std::size_t plans)
{
    const ConvolutionPass& shape = whole.shape;
    trial.time_in_graphs();
    trial.tolerate(shape.precision == Precision::fp32 ? of_order : of_rounding);
    Convolve alone = whole;
    alone.shape = bare(shape);
    alone.plan = 0;
    alone.bias = alone.scale = alone.shift = alone.sum = alone.squares = {};
    written(alone) = trial.program().resident(written(alone));
    if (shape.prologue) alone.source = trial.program().resident(whole.source);
    Trial::Way apart{.timed = {alone}, .results = {written(alone)}};
    if (shape.prologue)
        apart.shared.emplace_back(Normalise{
            .source = whole.source, .scale = whole.scale, .shift = whole.shift, .result = alone.source, .relu = true});
    if (shape.bias || shape.relu)
        apart.timed.emplace_back(AddBias{.values = alone.result, .bias = whole.bias, .relu = shape.relu});
    Convolve one = whole;
    Trial::Way together{.results = {written(one)}};
    if (shape.statistics) {
        for (const auto& [way, by] : {std::pair{&apart, &alone}, std::pair{&together, &one}}) {
            const Statistics behind = statistics_in(trial, *by);
            way->timed.emplace_back(behind);
            way->results.insert(way->results.end(), {behind.channels.mean, behind.channels.inverse_deviation});
        }
    }
    trial.add(apart);
    together.timed.emplace(together.timed.begin(), one);
    for (std::size_t plan = 1; plan <= plans; ++plan) {
        one.plan = static_cast<int>(plan);
        together.timed.front() = one;
        trial.add(together);
    }
}

void add_layers(Trial& trial, const model::Graph& graph, int first, const Settings& settings,
                const std::vector<Choosers>& ways, Timed timed)
{
    trial.tolerate(settings.narrow() ? of_rounding : of_order);
    const auto map = [&](int layer) { return maps_of(settings.batch, graph.layer(layer).output, settings.storage()); };
    std::vector<Tensor> outputs(1);  // no image
    for (int layer = 1; layer < first; ++layer) outputs.push_back(trial.value(map(layer), pattern(-0.7F)));
    std::vector<float> values = pattern(-0.8F);
    std::ranges::reverse(values);  // the gradient of a batch norm is 0 where the gradient given is its source
    const Tensor gradient = timed == Timed::forward ? Tensor{} : trial.value(map(last_of(graph)), values);
    for (const Choosers& choosers : ways) {
        const std::size_t begin = trial.program().stages().size();
        Builder build(graph, settings, choosers, trial.program());
        Trial::Way way{.results = write(trial, build, first, outputs, gradient, choosers)};
        for (std::size_t i = begin; i < trial.program().stages().size(); ++i) {
            const Program::Stage& stage = trial.program().stages()[i];
            const bool is_before = timed == Timed::backward && stage.part.phase == Phase::forward;
            std::ranges::copy(stage.operations, std::back_inserter(is_before ? way.before : way.timed));
        }
        trial.add(way);
    }
}

void add_passes(Trial& trial, const NormShape& shape, const std::vector<Choice>& choices)
{
    model::Graph graph("batch norm", {1, shape.map.height, shape.map.width});
    const int source = graph.convolution("source", 0, shape.map.channels, {}, false);
    const int norm = graph.batch_norm("norm", source, shape.epsilon);
    if (shape.relu) graph.relu("relu", norm);
    std::vector<Choosers> ways(1);
    for (const Choice& choice : choices)
        ways.emplace_back().norm = [=](const NormShape& asked) { return asked == shape ? choice : Choice{}; };
    add_layers(trial, graph, norm, {.batch = shape.batch, .precision = shape.precision}, ways,
               shape.backward ? Timed::backward : Timed::forward);
}

void add_passes(Trial& trial, const AttentionPass& pass, const std::vector<Choice>& choices)
{
    model::Graph graph("attention", {1, 1, pass.positions});
    const int source = graph.convolution("source", 0, (pass.heads + 2 * pass.kv_heads) * pass.channels, {}, false);
    const int attention = graph.attention("attention", source, pass.heads, pass.causal, pass.kv_heads);
    std::vector<Choosers> ways(1);
    for (const Choice& choice : choices)
        ways.emplace_back().attention = [=](const AttentionPass& asked) { return asked == pass ? choice : Choice{}; };
    add_layers(trial, graph, attention,
               {.batch = pass.batch, .precision = pass.precision, .deterministic = pass.ordered}, ways,
               pass.backward ? Timed::backward : Timed::forward);
    // With larger numbers the gradients of queries and keys are as long as those of values.
    constexpr float larger = 3;
    const Trial::Way& ours = trial.ways().front();
    std::vector<float> values = pattern(around_zero);
    for (float& value : values) value *= larger;
    trial.set(std::get<Attention>((pass.backward ? ours.before : ours.timed).front()).source, values);
}

void add_moments(Trial& trial, const ConvolutionPass& forward, const Choosers& passes)
{
    const int channels = forward.result.channels;
    model::Graph graph("moments", {1, forward.source.height, forward.source.width});
    const int source = graph.convolution("source", 0, forward.source.channels, {}, false);
    const int shortcut = graph.convolution("shortcut", 0, channels, {}, false);
    const int convolution = graph.convolution("convolution", source, channels, forward.window, false);
    graph.add("sum", graph.batch_norm("norm", convolution),
              shortcut);  // a ReLU would clip what rounding moves across 0
    Choosers moments = passes;
    moments.moments = [](const ConvolutionPass&) { return true; };
    trial.time_in_graphs();
    add_layers(trial, graph, convolution, {.batch = forward.batch, .precision = forward.precision}, {passes, moments},
               Timed::both);
}

}  // namespace roof::cudnn
