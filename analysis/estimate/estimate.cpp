// Sums and text only: the formulas are in workloads/model/work.cpp.
#include "analysis/estimate/estimate.hpp"

#include "analysis/table/fitted_text.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/work.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <set>

namespace roof::analysis {
namespace {

using model::LayerKind;
using model::LayerWork;
using model::PassWork;
using Pass = PassWork LayerWork::*;

constexpr std::array<Pass, 3> passes{&LayerWork::forward, &LayerWork::backward_data, &LayerWork::backward_weights};
using Texts = std::vector<std::vector<std::string>>;
constexpr std::string_view known = "analytic";

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
        if (counts(layer)) sum = sum + layer.work.*pass;
    return sum;
}

bool any(const LayerEstimate& /*layer*/)
{
    return true;
}
bool contraction(const LayerEstimate& layer)
{
    return model::is_contraction(layer.kind);
}
bool elementwise(const LayerEstimate& layer)
{
    return !contraction(layer);
}

/// After the flatten layer an activation is a vector, [n, f], as in PyTorch.
std::vector<LayerEstimate> layer_estimates(const model::Graph& graph, int batch, Precision precision)
{
    std::vector<LayerEstimate> layers;
    bool flat = false;
    for (int index = 1; index < static_cast<int>(graph.layers().size()); ++index) {
        const model::Layer& layer = graph.layer(index);
        flat = flat || layer.kind == LayerKind::flatten;
        const auto& [channels, height, width] = layer.output;
        layers.push_back(
            {.name = layer.name,
             .kind = layer.kind,
             .parameters = layer.parameters(graph.input_shape(index)),
             .output_shape = flat ? std::vector{batch, channels} : std::vector{batch, channels, height, width},
             .work = work_of(graph, index, batch, precision)});
    }
    return layers;
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

std::string intensity_text(const PassWork& work)
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
            intensity_text(forward),
            std::string(known)};
}

std::string layer_table(const ModelEstimate& estimate)
{
    Texts rows;
    for (const LayerEstimate& layer : estimate.layers) {
        if (!contraction(layer)) continue;
        const std::string output = fmt::format("{}", fmt::join(layer.output_shape, "x"));
        rows.push_back(layer_cells(layer.name, output, layer.parameters, layer.work.forward, true));
    }
    std::set<LayerKind> kinds;
    for (const LayerEstimate& layer : estimate.layers)
        if (elementwise(layer)) kinds.insert(layer.kind);
    for (const LayerKind kind : kinds) {
        int layers = 0;
        long long parameters = 0;
        const PassWork forward = total(estimate, &LayerWork::forward, [&](const LayerEstimate& layer) {
            if (layer.kind != kind) return false;
            ++layers;
            parameters += layer.parameters;
            return true;
        });
        if (forward.compulsory.value > 0)
            rows.push_back(layer_cells(fmt::format("{}, all {}", name(kind), layers), "", parameters, forward, false));
    }
    return to_text(
        text_table({"forward of layer", "output", "parameters", "MACs", "FLOPs", "bytes", "FLOP/byte", "known"}, rows));
}

std::string step_table(const ModelEstimate& estimate)
{
    Texts rows;
    const auto add = [&](const std::string& what, const PassWork& work, bool multiplies) {
        rows.push_back({what, count_text(multiplies ? work.flops.value / 2 : 0), count_text(work.flops.value),
                        count_text(work.compulsory.value), count_text(work.no_reuse.value), intensity_text(work),
                        std::string(known)});
    };
    PassWork step;
    PassWork rest;
    for (const Pass pass : passes) {
        step = step + total(estimate, pass, contraction);
        rest = rest + total(estimate, pass, elementwise);
    }
    add("forward", total(estimate, &LayerWork::forward, contraction), true);
    add("backward data", total(estimate, &LayerWork::backward_data, contraction), true);
    add("backward weights", total(estimate, &LayerWork::backward_weights, contraction), true);
    add("step", step, true);
    add("all other layers", rest, false);
    add("update", total(estimate, &LayerWork::update, any), false);
    return to_text(
        text_table({"convolution and linear", "MACs", "FLOPs", "bytes", "no-reuse bytes", "FLOP/byte", "known"}, rows));
}

/// Allocated memory by kind, for each kind of run.
std::string memory_table(const ModelEstimate& estimate)
{
    Texts rows;
    const auto text = [](Bytes bytes) { return format_si(bytes.value, "B"); };
    const auto add = [&](const std::string& what, const Footprint& f) {
        rows.push_back({what, text(f.parameters), text(f.parameters + f.gradients + f.momentum), text(f.kept()),
                        text(f.working), text(f.total()), std::string(known)});
    };
    add("training step", estimate.step_memory);
    add("forward, for training", estimate.forward_memory);
    rows.push_back({"inference", text(estimate.forward_memory.parameters), "-", "-", "-",
                    text(estimate.inference_memory), std::string(known)});
    return to_text(text_table(
        {"memory for", "parameters", "with gradients, momentum", "activations", "working", "all", "known"}, rows));
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

ModelEstimate estimate_model(std::string_view model, int batch, Precision precision)
{
    if (batch < 1) throw InputError(fmt::format("a batch holds at least 1 image, not {}", batch));
    const model::Graph graph = model::build_model(model);
    ModelEstimate estimate{.model = graph.name(),
                           .batch = batch,
                           .precision = precision,
                           .parameters = graph.parameter_count(),
                           .flops = work_of(graph, batch, precision),
                           .layers = layer_estimates(graph, batch, precision),
                           .step_memory = footprint_of(graph, batch, precision, Passes::step),
                           .forward_memory = footprint_of(graph, batch, precision, Passes::forward),
                           .inference_memory = inference_bytes(graph, batch, precision)};
    for (const LayerEstimate& layer : estimate.layers) {
        estimate.multiply_adds += layer.work.multiply_adds;
        estimate.multiply_adds_unpadded += layer.work.multiply_adds_unpadded;
    }
    return estimate;
}

nlohmann::json to_json(const ModelEstimate& estimate)
{
    const auto compulsory = [&](Pass pass) { return total(estimate, pass, any).compulsory.value; };
    const auto no_reuse = [&](Pass pass) { return total(estimate, pass, any).no_reuse.value; };
    nlohmann::json layers = nlohmann::json::array();
    for (const LayerEstimate& layer : estimate.layers) {
        layers.push_back({{"name", layer.name},
                          {"kind", name(layer.kind)},
                          {"parameters", layer.parameters},
                          {"output_shape", layer.output_shape},
                          {"forward_flops", integer(layer.work.forward.flops.value)},
                          {"forward_bytes", integer(layer.work.forward.compulsory.value)}});
    }
    return {{"model", estimate.model},
            {"batch", estimate.batch},
            {"precision", traits(estimate.precision).name},
            {"known", roof::name(Known::analytic)},
            {"parameters", estimate.parameters},
            {"multiply_adds", estimate.multiply_adds},
            {"flops",
             {{"forward", integer(estimate.flops.forward.value)},
              {"backward_data", integer(estimate.flops.backward_data.value)},
              {"backward_weights", integer(estimate.flops.backward_weights.value)},
              {"elementwise", integer(estimate.flops.elementwise.value)},
              {"step", integer(estimate.flops.step().value)}}},
            {"bytes",
             {{"compulsory_forward", integer(compulsory(&LayerWork::forward))},
              {"compulsory_backward_data", integer(compulsory(&LayerWork::backward_data))},
              {"compulsory_backward_weights", integer(compulsory(&LayerWork::backward_weights))},
              {"compulsory_update", integer(compulsory(&LayerWork::update))},
              {"no_reuse_forward", integer(no_reuse(&LayerWork::forward))},
              {"no_reuse_backward_data", integer(no_reuse(&LayerWork::backward_data))},
              {"no_reuse_backward_weights", integer(no_reuse(&LayerWork::backward_weights))}}},
            {"memory", memory_json(estimate)},
            {"layers", layers}};
}

std::string to_text(const ModelEstimate& estimate)
{
    const double padding =
        100 * (1 - static_cast<double>(estimate.multiply_adds_unpadded) / static_cast<double>(estimate.multiply_adds));
    return fmt::format(
        "{} at batch {} in {}: {} parameters; every number is analytic\n"
        "1 MAC (multiply-add) = 2 FLOPs over the full window; {:.1f}% of the forward MACs fall on padding;\n"
        "bytes are compulsory: each operand moved once by each layer; no-reuse: by each multiply-add\n\n{}\n{}\n{}",
        estimate.model, estimate.batch, traits(estimate.precision).name, estimate.parameters, padding,
        layer_table(estimate), step_table(estimate), memory_table(estimate));
}

}  // namespace roof::analysis
