#include "analysis/estimate/prediction.hpp"

#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>

namespace roof::analysis {

namespace {

const std::array<std::string, 8> columns{"row",    "least_s",      "predicted_s", "low_s",
                                         "high_s", "memory_bytes", "fits",        "tried"};

PredictionError error_of(const Prediction& prediction, const Measurement& row)
{
    PredictionError error{prediction, row.status, {}, 0, prediction.fits == (row.status != Status::out_of_memory)};
    if (row.status != Status::ok || row.seconds.median.value <= 0) return error;
    error.measured = row.seconds.median;
    error.error = prediction.predicted / error.measured - 1;
    const auto& [low, high] = prediction.range;
    if (low && high) error.held = *low <= error.measured && error.measured <= *high;
    return error;
}

std::string end_text(const std::optional<Seconds>& end)
{
    return end ? format_exact(end->value) : std::string();
}

Cell end_cell(const std::optional<Seconds>& end)
{
    return end ? seconds(*end) : absent();
}

/// A training step on one rank.
bool is_predicted(const Point& point)
{
    return point.has("model") && point.has("batch") && point.has("precision") &&
           !(point.has("ranks") && point.integer("ranks") > 1);
}

}  // namespace

std::optional<Prediction> predict(const std::string& row, const Point& point, const Target& target,
                                  const Measurement* trial)
{
    if (!is_predicted(point)) return std::nullopt;
    const MachineEstimate estimate = estimate_on(target, request_of(point));
    if (!estimate.reason.empty()) return std::nullopt;
    Prediction prediction{row,
                          estimate.placed.attainable,
                          estimate.without_overlap,
                          estimate.footprint.total(),
                          estimate.fits(),
                          estimate.without_overlap_range};
    if (const auto tried = trial == nullptr ? std::nullopt : predicted_by(*trial, estimate, target)) {
        prediction.predicted = *tried;
        prediction.range = range_of(*tried, fastest_of_tried, *tried, slowest_of_tried, estimate.between);
        prediction.is_tried = true;
    }
    return prediction;
}

std::string to_csv(std::span<const Prediction> predictions)
{
    std::string text = csv_line(columns);
    for (const Prediction& p : predictions)
        text += csv_line(std::array<std::string, columns.size()>{
            p.row, format_exact(p.least.value), format_exact(p.predicted.value), end_text(p.range.low),
            end_text(p.range.high), format_exact(p.memory.value), p.fits ? "1" : "0", p.is_tried ? "1" : "0"});
    return text;
}

std::vector<Prediction> parse_predictions(std::string_view text, const std::string& name)
{
    const CsvTable table = parse_csv(std::string(text), name);
    const bool has_ends = table.has("low_s");
    std::vector<Prediction> predictions;
    for (std::size_t line = 0; line < table.rows.size(); ++line) {
        const std::vector<std::string>& cells = table.rows[line];
        const auto seconds_in = [&, where = fmt::format("{}:{}", name, line + 2)](std::string_view column) {
            return Seconds{number_in_cell(cells[table.column(column)], where)};
        };
        const auto end_in = [&](std::string_view column) -> std::optional<Seconds> {
            if (!has_ends || cells[table.column(column)].empty()) return std::nullopt;
            return seconds_in(column);
        };
        predictions.push_back({.row = cells[table.column("row")],
                               .least = seconds_in("least_s"),
                               .predicted = seconds_in("predicted_s"),
                               .memory = {seconds_in("memory_bytes").value},
                               .fits = cells[table.column("fits")] == "1",
                               .range = {end_in("low_s"), end_in("high_s")},
                               .is_tried = table.has("tried") && cells[table.column("tried")] == "1"});
    }
    return predictions;
}

std::string fingerprint(std::string_view text)
{
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return fmt::format("{:016x}", hash);
}

PredictionErrors errors_of(std::span<const Prediction> predictions, std::span<const Measurement> rows)
{
    PredictionErrors errors;
    std::vector<double> sizes;
    for (const Prediction& prediction : predictions) {
        const Measurement* const row = find_in(rows, prediction.row, &Measurement::id);
        if (row == nullptr) continue;
        errors.rows.push_back(error_of(prediction, *row));
        const PredictionError& one = errors.rows.back();
        if (one.measured.value > 0) sizes.push_back(std::abs(one.error));
        if (one.held) ++errors.judged;
        if (one.held.value_or(false)) ++errors.held;
        if (!busy_text(*row).empty()) ++errors.busy;
    }
    if (sizes.empty()) return errors;
    errors.median = spread_of(sizes).median;
    errors.worst = *std::ranges::max_element(sizes);
    return errors;
}

DataTable predictions_table(const PredictionErrors& errors)
{
    using E = const PredictionError&;
    static const std::vector<ColumnOf<PredictionError>> of_error{
        {"row", "row", [](E e) { return word(e.prediction.row); }},
        {"", "least_s", [](E e) { return analysis::number(e.prediction.least.value); }},
        {"predicted", "predicted_s", [](E e) { return seconds(e.prediction.predicted); }},
        {"by", "by", [](E e) { return word(e.prediction.is_tried ? "a trial (measured)" : "roofs (analytic)"); }},
        {"interval", "",
         [](E e) {
             const auto& [low, high] = e.prediction.range;
             if (!low || !high) return absent();
             return numeric_text(fmt::format("{} to {}", format_duration(low->value), format_duration(high->value)));
         }},
        {"", "low_s", [](E e) { return end_cell(e.prediction.range.low); }},
        {"", "high_s", [](E e) { return end_cell(e.prediction.range.high); }},
        {"", "memory_bytes", [](E e) { return analysis::number(e.prediction.memory.value); }},
        {"", "predicted_to_fit", [](E e) { return truth(e.prediction.fits); }},
        {"", "status", [](E e) { return word(name(e.status)); }},
        {"measured", "measured_s",
         [](E e) {
             Cell cell = e.measured.value > 0 ? seconds(e.measured) : numeric_text(std::string(name(e.status)));
             if (e.status == Status::ok) cell.value = e.measured.value;
             return cell;
         }},
        {"error", "error_share",
         [](E e) {
             const std::string text = (e.error < 0 ? "-" : "+") + percent(std::abs(e.error));
             Cell cell = only_if(e.measured.value > 0, analysis::number(e.error, text));
             if (e.status == Status::ok) cell.value = e.error;
             return cell;
         }},
        {"memory", "",
         [](E e) {
             return word(std::string(e.prediction.fits ? "fits" : "out of memory") + (e.right ? "" : ", wrongly"));
         }},
        {"", "held", [](E e) { return e.held ? truth(*e.held) : absent(); }},
        {"", "right_about_fitting", [](E e) { return truth(e.right); }},
    };
    return table_of(of_error, errors.rows, {.expendable = {"memory"}});
}

std::string summary(const PredictionErrors& errors)
{
    return fmt::format("median {}, worst {}", percent(errors.median), percent(errors.worst)) +
           (errors.judged > 0 ? fmt::format("; the interval held {} of {}", errors.held, errors.judged) : "") +
           (errors.busy > 0 ? fmt::format("; the machine was busy beside {} of the rows", errors.busy) : "");
}

std::string to_text(const PredictionErrors& errors, int width)
{
    return to_text(predictions_table(errors), width) +
           fitted_lines(fmt::format("\nerror of the predicted time: {}\n", summary(errors)), width);
}

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
    const auto* const found = find_in(counted.layers, first, &LayerEstimate::name);
    return found ? found->loops : "update";
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
    if (!is_predicted(row)) return std::nullopt;
    const EstimateRequest request = request_of(row);
    const ModelEstimate counted = estimate_model(request);
    const bool reads_positions = is_in(name(model::LayerKind::attention), counted.layers, &LayerEstimate::kind);
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
