#include "analysis/estimate/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace roof::analysis {
namespace {

/// Extents of maps and channels as in the four stages of residual networks.
constexpr const char* of_images = R"({name: trial_of_images, image: [3, 112, 112], layers: [
 {convolution: {channels: 64, window: 7, stride: 2, padding: 3, bias: false}}, batch_norm, relu,
 {convolution: {channels: 64, window: 3, padding: 1, bias: false}}, batch_norm, relu,
 {convolution: {channels: 256, window: 1, bias: false}}, batch_norm, relu,
 {convolution: {channels: 128, window: 1, bias: false}}, batch_norm, relu,
 {convolution: {channels: 128, window: 3, stride: 2, padding: 1, bias: false}}, batch_norm, relu,
 {convolution: {channels: 128, window: 3, padding: 1, bias: false}}, batch_norm, relu,
 {convolution: {channels: 512, window: 1, bias: false}}, batch_norm, relu,
 {convolution: {channels: 256, window: 1, bias: false}}, batch_norm, relu,
 {max_pool: {window: 2}}, {convolution: {channels: 256, window: 3, padding: 1}}, relu,
 {convolution: {channels: 512, window: 3, stride: 2, padding: 1, bias: false}}, batch_norm, relu,
 {convolution: {channels: 512, window: 3, padding: 1, bias: false}}, batch_norm, relu,
 flatten, {linear: {features: 1024}}, relu, {dropout: {}}, {linear: {features: 1000}}]})";

/// A block of GPT-2, and a twelfth of its vocabulary for one of its twelve blocks.
constexpr const char* of_tokens = R"({name: trial_of_tokens, image: [1, 256, 1], layers: [
 {embedding: {name: wte, vocabulary: 4096, channels: 768}}, {positions: {name: wpe}},
 layer_norm, {linear: {features: 2304, each_position: true}}, {attention: {heads: 12, causal: true}},
 {linear: {name: o, features: 768, each_position: true}}, {add: {name: a, from: [wpe, o]}},
 layer_norm, {linear: {features: 3072, each_position: true}}, gelu_tanh,
 {linear: {name: d, features: 768, each_position: true}}, {add: {from: [a, d]}},
 layer_norm, {linear: {features: 4096, bias: false, weights_of: wte}}]})";

/// A wide block of a Llama of 1,024 channels and its vocabulary: weights of 250 MB, beyond the caches.
constexpr const char* over_cache = R"({{name: trial_over_cache, image: [1, 1, 1], layers: [
 {{embedding: {{name: wte, vocabulary: 32768, channels: 1024}}}},
 rms_norm, {{linear: {{features: 1536, each_position: true, bias: false}}}},
 {{attention: {{heads: 16, kv_heads: 4, cached: {}}}}},
 {{linear: {{name: o, features: 1024, each_position: true, bias: false}}}}, {{add: {{name: a, from: [wte, o]}}}},
 {{rms_norm: {{name: n}}}}, {{linear: {{name: gate, features: 8192, each_position: true, bias: false}}}},
 {{silu: {{name: act}}}}, {{linear: {{name: up, from: n, features: 8192, each_position: true, bias: false}}}},
 {{multiply: {{from: [act, up]}}}}, {{linear: {{name: d, features: 1024, each_position: true, bias: false}}}},
 {{add: {{from: [a, d]}}}}, rms_norm, {{linear: {{features: 32768, bias: false, weights_of: wte}}}}]}})";

constexpr int images = 4;

std::string loops_of(const TimedPart& part, const ModelEstimate& counted)
{
    const std::string first = part.layer.substr(0, part.layer.find('+'));  // of fused layers
    const auto found = std::ranges::find(counted.layers, first, &LayerEstimate::name);
    return found == counted.layers.end() ? "update" : found->loops;
}

}  // namespace

EstimateRequest request_of(const Point& point)
{
    EstimateRequest request;
    request.model = point.text("model");
    request.batch = static_cast<int>(point.integer("batch"));
    request.precision = point.precision();
    if (point.has("threads")) request.threads = static_cast<int>(point.integer("threads"));
    if (point.has("tokens")) request.sizes["tokens"] = point.integer("tokens");
    request.passes = parse_enum<Passes>(point.text_or("phase", "train"));
    request.optimizer = parse_enum<model::Optimizer>(point.text_or("optimizer", "sgd"));
    request.by_fastest_algorithm = point.text_or("algorithm", "direct") != "direct";
    return request;
}

std::optional<Point> trial_of(const Point& row)
{
    for (const char* axis : {"model", "batch", "precision"})
        if (!row.has(axis)) return std::nullopt;
    if (row.has("ranks") && row.integer("ranks") > 1) return std::nullopt;
    const EstimateRequest request = request_of(row);
    const ModelEstimate counted = estimate_model(request);
    const bool reads_positions = std::ranges::find(counted.layers, name(model::LayerKind::attention),
                                                   &LayerEstimate::kind) != counted.layers.end();
    Point trial = row.without("tokens");
    if (request.passes == Passes::decode) {
        trial.set("model", fmt::format(over_cache, row.integer("tokens")));
    } else {
        trial.set("model", reads_positions ? of_tokens : of_images);
        trial.set("batch", std::to_string(reads_positions ? 1 : images));
    }
    if (request.passes != Passes::train) trial.set("phase", std::string(name(Passes::forward)));
    return trial;
}

std::optional<Seconds> predicted_by(const Measurement& trial, const MachineEstimate& row, const Target& target)
{
    if (trial.status != Status::ok || !row.reason.empty()) return std::nullopt;
    const EstimateRequest request = request_of(trial.point);
    const ModelEstimate counted = estimate_model(request);
    const MachineEstimate estimate = estimate_on(target, request, counted);
    if (!estimate.reason.empty()) return std::nullopt;
    std::map<std::string, Seconds> measured;
    Seconds parts;
    for (const PartMeasurement& one : trial.parts) {
        measured[loops_of(one.part, counted)] += one.seconds.median;
        parts += one.seconds.median;
    }
    if (parts.value <= 0) return std::nullopt;
    Seconds sum;
    for (const auto& [loops, seconds] : row.by_loops) {
        const auto of_trial = estimate.by_loops.find(loops);
        sum += of_trial != estimate.by_loops.end() ? (measured[loops] / of_trial->second) * seconds
                                                   : (parts / estimate.without_overlap) * seconds;
    }
    return (trial.seconds.median / parts) * sum;  // with what no layer accounts for
}

}  // namespace roof::analysis
