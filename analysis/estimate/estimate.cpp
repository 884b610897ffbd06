// Sums and text only: the formulas are in workloads/model/work.cpp.
#include "analysis/estimate/estimate.hpp"

#include "analysis/table/fitted_text.hpp"
#include "ert/base/error.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/work.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>

namespace roof::analysis {
namespace {

using model::LayerWork;
using model::PassWork;
using Pass = PassWork LayerWork::*;

constexpr std::array<Pass, 1> forward_alone{&LayerWork::forward};
constexpr std::array<Pass, 3> each_pass{&LayerWork::forward, &LayerWork::backward_data, &LayerWork::backward_weights};
using Texts = std::vector<std::vector<std::string>>;
constexpr std::string_view known = "analytic";
constexpr const char* loss_kind = "softmax_cross_entropy";

PassWork operator+(const PassWork& a, const PassWork& b)
{
    return {a.flops + b.flops, a.compulsory + b.compulsory, a.no_reuse + b.no_reuse};
}

/// The sum over the layers for which `counts` is true.
template <typename Choice>
PassWork total(const ModelEstimate& estimate, Pass pass, Choice counts)
{
    PassWork sum;
    for (const LayerEstimate& layer : estimate.layers)
        if (std::invoke(counts, layer)) sum = sum + layer.work.*pass;
    return sum;
}

constexpr auto any = [](const LayerEstimate&) { return true; };
constexpr auto contraction = &LayerEstimate::is_contraction;
constexpr auto elementwise = [](const LayerEstimate& layer) { return !layer.is_contraction; };

/// Whether Winograd's F(4x4, 3x3) can compute it.
bool may_be_winograds(const model::Layer& layer)
{
    return layer.kind == model::LayerKind::convolution && layer.groups == 1 &&
           layer.window == model::Window{.size = 3, .stride = 1, .padding = 1};
}

double least_executed(const model::Graph& graph, int index, int batch)
{
    constexpr int tile = 4;
    if (!may_be_winograds(graph.layer(index))) return 1;
    const auto fewest =
        model::winograd_multiply_adds(model::convolution_of(graph, index, batch), tile, model::CutTiles::by_need);
    return static_cast<double>(fewest) /
           static_cast<double>(model::work_of(graph, index, batch, Precision::fp32).multiply_adds);
}

/// Winograd's algorithm has few tiles in a smaller map, and saves less of its time.
constexpr int least_large_map = 28 * 28;

/// "convolution 1x1", "linear of positions": the kind, divided by the loops that compute it.
std::string loops_of(const model::Graph& graph, int index)
{
    const model::Layer& layer = graph.layer(index);
    const std::string kind(name(layer.kind));
    if (layer.kind == model::LayerKind::linear) return graph.is_of_positions(index) ? kind + " of positions" : kind;
    if (layer.kind != model::LayerKind::convolution) return kind;
    if (layer.inputs.front() == 0) return kind + " of images";
    if (layer.groups > 1) return kind + " of groups";
    if (layer.window.size == 1) return kind + " 1x1";
    if (!may_be_winograds(layer)) return kind;
    return kind + (layer.output.height * layer.output.width < least_large_map ? " 3x3 of small maps" : " 3x3");
}

/// After the flatten layer an activation is a vector, [n, f], as in PyTorch.
std::vector<LayerEstimate> layer_estimates(const model::Graph& graph, int batch, Precision precision,
                                           model::Optimizer optimizer)
{
    std::vector<LayerEstimate> layers;
    bool flat = false;
    for (int index = 1; index < static_cast<int>(graph.layers().size()); ++index) {
        const model::Layer& layer = graph.layer(index);
        flat = flat || layer.kind == model::LayerKind::flatten;
        const auto& [channels, height, width] = layer.output;
        std::vector<long long> output{batch, channels, height, width};
        if (flat) output.resize(2);
        layers.push_back({.name = layer.name,
                          .kind = std::string(name(layer.kind)),
                          .is_contraction = model::is_contraction(layer.kind),
                          .parameters = layer.parameters(graph.input_shape(index)),
                          .output_shape = std::move(output),
                          .work = work_of(graph, index, batch, precision, optimizer),
                          .least_executed = least_executed(graph, index, batch),
                          .loops = loops_of(graph, index)});
    }
    return layers;
}

model::Graph graph_of(const EstimateRequest& request)
{
    const Sizes& sizes = request.sizes;
    const int tokens = sizes.contains("tokens") ? static_cast<int>(sizes.at("tokens")) : 0;
    const auto other = std::ranges::find_if(sizes, [](const auto& size) { return size.first != "tokens"; });
    if (other != sizes.end() && !request.model.ends_with(model::network_ending))
        throw InputError("--size " + printable(other->first) + ": " + request.model + " leaves no such extent open");
    return model::build_model(request.model, 1000, tokens, request.passes);
}

/// With the name and kind that it has in measured steps.
LayerEstimate loss_estimate(const model::Graph& graph, int batch, Precision precision, bool trains)
{
    return {.name = "loss",
            .kind = loss_kind,
            .output_shape = {},
            .work = {.forward = loss_work(graph, batch, precision, trains)},
            .loops = loss_kind};
}

/// Kinds of layers in their own order, then those of operators as they appear.
std::vector<std::string> elementwise_kinds(const ModelEstimate& estimate)
{
    std::vector<std::string> kinds = names_in(names_of(model::LayerKind{}).rows);
    for (const LayerEstimate& layer : estimate.layers)
        if (elementwise(layer)) add_once(kinds, layer.kind);
    return kinds;
}

/// "NonZero at 'a' and 2 other places", of the operators without a rule; else empty.
std::string without_rule(const ModelEstimate& estimate)
{
    std::vector<std::string> named;
    std::map<std::string, int> more;
    for (const LayerEstimate& layer : estimate.layers) {
        if (layer.has_rule) continue;
        if (more[layer.kind]++ == 0) named.push_back(fmt::format("{} at '{}'", layer.kind, layer.name));
    }
    for (std::string& one : named) {
        const int others = more[one.substr(0, one.find(' '))] - 1;
        if (others > 0) one += fmt::format(" and {} other {}", others, others == 1 ? "place" : "places");
    }
    return join(named, "; ");
}

/// Of contractions, without the pairs of attention that a causal mask or a window leaves out.
double executed_flops(const ModelEstimate& estimate, std::span<const Pass> of)
{
    double sum = 0;
    for (const LayerEstimate& layer : estimate.layers)
        for (const Pass pass : of)
            if (layer.is_contraction) sum += std::round((layer.work.*pass).flops.value * layer.work.executed);
    return sum;
}

nlohmann::json integer(double value)
{
    return static_cast<long long>(value);
}

/// The count with an SI prefix but no unit, which the heading names; zero is "0".
std::string count_text(double value)
{
    return std::string(trim(format_si(value, "")));
}

std::string intensity_of_pass(const PassWork& work)
{
    return work.compulsory.value > 0 ? fmt::format("{:.1f}", (work.flops / work.compulsory).value) : "-";
}

std::vector<std::string> layer_cells(const std::string& what, const std::string& output, long long parameters,
                                     const PassWork& forward, bool multiplies)
{
    return {what,
            output,
            count_text(static_cast<double>(parameters)),
            count_text(multiplies ? forward.flops.value / 2 : 0),
            count_text(forward.flops.value),
            count_text(forward.compulsory.value),
            intensity_of_pass(forward),
            std::string(known)};
}

std::string layer_table(const ModelEstimate& estimate)
{
    Texts rows;
    for (const LayerEstimate& layer : estimate.layers) {
        if (!layer.is_contraction) continue;
        const std::string output = fmt::format("{}", fmt::join(layer.output_shape, "x"));
        rows.push_back(layer_cells(layer.name, output, layer.parameters, layer.work.forward, true));
    }
    for (const std::string& kind : elementwise_kinds(estimate)) {
        int layers = 0;
        long long parameters = 0;
        const PassWork forward = total(estimate, &LayerWork::forward, [&](const LayerEstimate& layer) {
            if (layer.kind != kind || layer.is_contraction) return false;
            ++layers;
            parameters += layer.parameters;
            return true;
        });
        if (forward.compulsory.value > 0)
            rows.push_back(layer_cells(kind == loss_kind ? "loss" : fmt::format("{}, all {}", kind, layers), "",
                                       parameters, forward, false));
    }
    return to_text(
        text_table({"forward of layer", "output", "parameters", "MACs", "FLOPs", "bytes", "FLOP/byte", "known"}, rows));
}

std::string step_table(const ModelEstimate& estimate)
{
    Texts rows;
    const std::string bound = is_lower_bound(estimate) ? "≥ " : "";
    const auto add = [&](const std::string& what, const PassWork& work, bool multiplies) {
        if (estimate.passes != Passes::train && work.compulsory.value == 0) return;
        rows.push_back({what, (multiplies ? bound : "") + count_text(multiplies ? work.flops.value / 2 : 0),
                        bound + count_text(work.flops.value), count_text(work.compulsory.value),
                        count_text(work.no_reuse.value), intensity_of_pass(work), std::string(known)});
    };
    PassWork step;
    PassWork rest;
    for (const Pass pass : each_pass) {
        step = step + total(estimate, pass, contraction);
        rest = rest + total(estimate, pass, elementwise);
    }
    add("forward", total(estimate, &LayerWork::forward, contraction), true);
    add(estimate.divides_backward ? "backward data" : "backward",
        total(estimate, &LayerWork::backward_data, contraction), true);
    if (estimate.divides_backward)
        add("backward weights", total(estimate, &LayerWork::backward_weights, contraction), true);
    add("step", step, true);
    add("all other layers", rest, false);
    add(fmt::format("update, {}", name(estimate.optimizer)), total(estimate, &LayerWork::update, any), false);
    return to_text(
        text_table({"convolution and linear", "MACs", "FLOPs", "bytes", "no-reuse bytes", "FLOP/byte", "known"}, rows));
}

std::string memory_table(const ModelEstimate& estimate)
{
    Texts rows;
    const auto text = [](Bytes bytes) { return format_si(bytes.value, "B"); };
    const auto add = [&](const std::string& what, const Footprint& f) {
        rows.push_back({what, text(f.parameters), text(f.parameters + f.gradients + f.momentum), text(f.kept()),
                        text(f.working), text(f.total()), std::string(known)});
    };
    if (!is_inference(estimate.passes)) {
        add("training step", estimate.step_memory);
        add("forward, for training", estimate.forward_memory);
    }
    const Bytes of_precision{traits(estimate.precision).storage_bytes * static_cast<double>(estimate.parameters)};
    rows.push_back({"inference", text(estimate.weights.value > 0 ? estimate.weights : of_precision), "-", "-", "-",
                    text(estimate.inference_memory), std::string(known)});
    return to_text(text_table(
        {"memory for", "parameters", "with gradients, averages", "activations", "working", "all", "known"}, rows));
}

nlohmann::json memory_json(const ModelEstimate& estimate)
{
    return {{"step", integer(estimate.step_memory.total().value)},
            {"forward", integer(estimate.forward_memory.total().value)},
            {"inference", integer(estimate.inference_memory.value)},
            {"activations", integer(estimate.step_memory.kept().value)},
            {"activations_pytorch", integer(estimate.step_memory.kept_by_pytorch().value)}};
}

}  // namespace

bool is_lower_bound(const ModelEstimate& estimate)
{
    return !std::ranges::all_of(estimate.layers, &LayerEstimate::has_rule);
}

ModelEstimate estimate_model(const EstimateRequest& request)
{
    const int batch = request.batch;
    const Passes passes = request.passes;
    const Precision precision = request.precision;
    const model::Graph graph = graph_of(request);
    if (batch < 1) throw InputError(fmt::format("a batch holds at least 1 image, not {}", batch));
    const auto memory_of = [&](Passes of) { return footprint_of(graph, batch, precision, of, request.optimizer); };
    ModelEstimate estimate{.model = graph.name(),
                           .batch = batch,
                           .precision = precision,
                           .parameters = graph.parameter_count(),
                           .layers = layer_estimates(graph, batch, precision, request.optimizer),
                           .step_memory = memory_of(Passes::train),
                           .forward_memory = memory_of(Passes::forward),
                           .memory = memory_of(passes),
                           .optimizer = request.optimizer,
                           .passes = passes};
    estimate.layers.push_back(loss_estimate(graph, batch, precision, passes == Passes::train));
    estimate.inference_memory =
        is_inference(passes) ? estimate.memory.total() : inference_bytes(graph, batch, precision);
    for (LayerEstimate& layer : estimate.layers) {
        LayerWork& work = layer.work;
        if (passes != Passes::train) work.backward_data = work.backward_weights = work.update = {};
        if (work.multiply_adds > (1LL << 62) - estimate.multiply_adds)
            throw InputError(graph.name() + " has more than 2^62 multiply-adds");
        estimate.multiply_adds += work.multiply_adds;
        estimate.multiply_adds_unpadded += work.multiply_adds_unpadded;
        estimate.flops.add(work, layer.is_contraction);
    }
    return estimate;
}

nlohmann::json to_json(const ModelEstimate& estimate)
{
    const auto compulsory = [&](Pass pass) { return total(estimate, pass, any).compulsory.value; };
    const auto no_reuse = [&](Pass pass) { return total(estimate, pass, any).no_reuse.value; };
    const auto of_backward = [&](double value) { return estimate.divides_backward ? integer(value) : nullptr; };
    nlohmann::json layers = nlohmann::json::array();
    for (const LayerEstimate& layer : estimate.layers) {
        layers.push_back({{"name", layer.name},
                          {"kind", layer.kind},
                          {"parameters", layer.parameters},
                          {"output_shape", layer.output_shape},
                          {"forward_flops", integer(layer.work.forward.flops.value)},
                          {"forward_bytes", integer(layer.work.forward.compulsory.value)}});
        if (!layer.has_rule) layers.back()["has_rule"] = false;
    }
    return {{"model", estimate.model},
            {"batch", estimate.batch},
            {"precision", traits(estimate.precision).name},
            {"optimizer", name(estimate.optimizer)},
            {"known", roof::name(Known::analytic)},
            {"parameters", estimate.parameters},
            {"multiply_adds", estimate.multiply_adds},
            {"flops",
             {{"forward", integer(estimate.flops.forward.value)},
              {"backward", integer((estimate.flops.backward_data + estimate.flops.backward_weights).value)},
              {"backward_data", of_backward(estimate.flops.backward_data.value)},
              {"backward_weights", of_backward(estimate.flops.backward_weights.value)},
              {"elementwise", integer(estimate.flops.elementwise.value)},
              {"step", integer(estimate.flops.step().value)},
              {"is_lower_bound", is_lower_bound(estimate)},
              {"executed_forward", integer(executed_flops(estimate, forward_alone))},
              {"executed_step", integer(executed_flops(estimate, each_pass))}}},
            {"bytes",
             {{"compulsory_forward", integer(compulsory(&LayerWork::forward))},
              {"compulsory_backward",
               integer(compulsory(&LayerWork::backward_data) + compulsory(&LayerWork::backward_weights))},
              {"compulsory_backward_data", of_backward(compulsory(&LayerWork::backward_data))},
              {"compulsory_backward_weights", of_backward(compulsory(&LayerWork::backward_weights))},
              {"compulsory_update", integer(compulsory(&LayerWork::update))},
              {"no_reuse_forward", integer(no_reuse(&LayerWork::forward))},
              {"no_reuse_backward_data", of_backward(no_reuse(&LayerWork::backward_data))},
              {"no_reuse_backward_weights", of_backward(no_reuse(&LayerWork::backward_weights))}}},
            {"memory", memory_json(estimate)},
            {"remarks", text_or_null(estimate.remarks)},
            {"layers", layers}};
}

std::string to_text(const ModelEstimate& estimate)
{
    const auto all_products = static_cast<double>(estimate.multiply_adds);
    const double share = static_cast<double>(estimate.multiply_adds_unpadded) / std::max(1.0, all_products);
    std::string text = fmt::format(
        "{} at batch {} in {}: {} parameters; every number is analytic\n"
        "1 MAC (multiply-add) = 2 FLOPs over the full window;{}\n"
        "bytes are compulsory: each operand moved once by each {}; no-reuse: by each multiply-add\n",
        estimate.model, estimate.batch, traits(estimate.precision).name, estimate.parameters,
        estimate.divides_backward && all_products > 0
            ? fmt::format(" {:.1f}% of the forward MACs fall on padding;", 100 * (1 - share))
            : "",
        estimate.divides_backward ? "layer" : "operator");
    if (!estimate.remarks.empty()) text += estimate.remarks + '\n';
    if (const std::string unknown = without_rule(estimate); !unknown.empty())
        text += "FLOPs unknown, so that each sum of FLOPs is a lower bound (≥): " + unknown + "\n";
    if (const double all = estimate.flops.forward.value, executed = executed_flops(estimate, forward_alone);
        executed < all)
        text += fmt::format("of the {} forward {} are executed: a mask or a window leaves out the rest of attention\n",
                            format_si(all, "FLOP"), format_si(executed, "FLOP"));
    return text + fmt::format("\n{}\n{}\n{}", layer_table(estimate), step_table(estimate), memory_table(estimate));
}

}  // namespace roof::analysis
