#include "analysis/estimate/estimate.hpp"

#include "analysis/estimate/prediction.hpp"
#include "ert/base/error.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/method/results/results.hpp"
#include "ert/recording/record_files.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

namespace roof::analysis {
namespace {

constexpr std::array<std::string_view, 4> products{"convolution", "linear", "attention", "product"};
constexpr std::string_view unknown_flops = "FLOPs unknown";  ///< in place of the extents, if not all are counted
constexpr int largest = 1 << 24;                             ///< batch and tokens

/// Bytes by what they hold; of `parameters` by layer.
struct Allocations {
    std::map<std::string, double> of;
    std::map<std::string, double> parameters;
};

std::map<std::string, Allocations> allocations_in(const std::filesystem::path& folder)
{
    std::map<std::string, Allocations> all;
    read_records<MemoryRecord>(folder, [&](const std::string& row, const MemoryRecord& record) {
        Allocations& one = all[row];
        const double bytes = record.bytes.value_or(Bytes{}).value;
        if (record.cause.phase == "parameters")
            one.parameters[record.cause.layer] += bytes;
        else
            one.of[record.cause.phase] += bytes;
    });
    return all;
}

void check_size(const Point& point, const char* axis)
{
    const long long value = point.integer(axis);
    if (value < 1 || value > largest) throw InputError(std::string(axis) + " of an estimate is from 1 to 2^24");
}

/// "1x64x4096"; nothing else is legal.
std::vector<long long> extents_in(std::string_view text)
{
    std::vector<long long> extents;
    for (const std::string& word : split(text, 'x')) {
        const std::optional<long long> extent = parse_number<long long>(word);
        if (!extent) return {};
        extents.push_back(*extent);
    }
    return extents;
}

std::vector<LayerEstimate> layers_of(const Measurement& row, Allocations& held, const EstimateRequest& request)
{
    std::vector<LayerEstimate> layers;
    std::map<std::pair<std::string, std::string>, std::size_t> found;
    const double size = traits(request.precision).storage_bytes;
    for (const PartMeasurement& measured : row.parts) {
        const TimedPart& part = measured.part;
        const auto [at, is_new] = found.try_emplace({part.layer, part.kind}, layers.size());
        if (is_new) layers.push_back({.name = part.layer, .kind = part.kind, .output_shape = {}, .work = {}});
        LayerEstimate& layer = layers[at->second];
        layer.is_contraction = is_in(part.kind, products);
        model::LayerWork& work = layer.work;
        model::PassWork& pass = part.phase == Phase::forward ? work.forward : work.backward_data;
        pass = {part.work.flops, part.work.compulsory, part.work.no_reuse, {}};
        if (part.work.executed.value > 0) work.executed = part.work.executed / part.work.flops;
        if (part.implementation == unknown_flops)
            layer.has_rule = false;
        else if (!part.implementation.empty())
            layer.output_shape = extents_in(part.implementation);
        if (layer.is_contraction && part.phase == Phase::forward)
            work.multiply_adds = work.multiply_adds_unpadded = static_cast<long long>(part.work.flops.value / 2);
    }
    // A layer's parameters stand with its products, if it has any.
    for (const bool of_products : {true, false})
        for (LayerEstimate& layer : layers)
            if (const auto owned = held.parameters.find(layer.name);
                owned != held.parameters.end() && layer.is_contraction == of_products) {
                layer.parameters = static_cast<long long>(owned->second / size);
                held.parameters.erase(owned);
            }
    for (LayerEstimate& layer : layers)
        if (request.passes == Passes::train)
            layer.work.update =
                update_work(static_cast<double>(layer.parameters), request.precision, request.optimizer);
    return layers;
}

Footprint footprint_of(const ModelEstimate& estimate, Allocations& held, Passes passes)
{
    const double stored = traits(estimate.precision).storage_bytes, trained = std::max(4.0, stored);
    const auto parameters = static_cast<double>(estimate.parameters);
    Footprint footprint;
    footprint.images = Bytes{held.of["inputs"]};
    if (is_inference(passes)) {
        footprint.parameters = Bytes{held.of["weights"]};
        footprint.activations = Bytes{held.of["caches"]};
        footprint.working = Bytes{held.of["inference"]};
        return footprint;
    }
    footprint.parameters = Bytes{parameters * (trained + (stored < trained ? stored : 0))};
    footprint.activations = Bytes{held.of["activations"]};
    footprint.working = Bytes{held.of[std::string(name(passes))]};
    if (passes == Passes::forward) return footprint;
    footprint.gradients = Bytes{parameters * trained};
    footprint.momentum = footprint.gradients * model::cost_of(estimate.optimizer).averages;
    return footprint;
}

RecordedEstimate estimate_of(const Measurement& row, Allocations held)
{
    check_size(row.point, "batch");
    if (row.point.has("tokens")) check_size(row.point, "tokens");
    EstimateRequest request = request_of(row.point);
    request.sizes.try_emplace("tokens", 0);
    ModelEstimate counted{.model = request.model,
                          .batch = request.batch,
                          .precision = request.precision,
                          .remarks = row.remarks,
                          .optimizer = request.optimizer,
                          .passes = request.passes,
                          .divides_backward = false};
    double parameters = 0;
    for (const auto& [layer, bytes] : held.parameters) parameters += bytes;
    counted.parameters = static_cast<long long>(parameters / traits(request.precision).storage_bytes);
    counted.layers = layers_of(row, held, request);
    counted.step_memory = footprint_of(counted, held, Passes::train);
    counted.forward_memory = footprint_of(counted, held, Passes::forward);
    counted.inference_memory = footprint_of(counted, held, Passes::prefill).total();
    counted.memory = footprint_of(counted, held, request.passes);
    counted.weights = Bytes{held.of["weights"]};
    for (const LayerEstimate& layer : counted.layers) {
        counted.multiply_adds += layer.work.multiply_adds;
        counted.flops.add(layer.work, layer.is_contraction);
    }
    counted.multiply_adds_unpadded = counted.multiply_adds;
    return {std::move(counted), std::move(request)};
}

}  // namespace

std::vector<RecordedEstimate> read_estimates(const std::filesystem::path& folder)
{
    const Results results = read_results(folder);
    if (!results.damage.empty()) throw InputError(results.damage.front());
    std::map<std::string, Allocations> allocations = allocations_in(folder);
    std::vector<RecordedEstimate> all;
    for (const Measurement& row : results.rows)
        if (row.bench == recorded_bench && row.work.known == Known::analytic)
            all.push_back(estimate_of(row, std::move(allocations[row.id()])));
    if (all.empty()) throw InputError("'" + folder.string() + "' has no estimate");
    return all;
}

}  // namespace roof::analysis
