// Tables of measured messages and of efficiencies predicted for more nodes.
#include "analysis/estimate/node_scaling.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace roof::analysis {
namespace {

/// The messages of one operation over one path.
struct PathFit {
    std::vector<MessagePoint> points;
    std::optional<NetworkFit> fit;  ///< none with one size
};

std::vector<PathFit> fits_of(std::span<const MessagePoint> points)
{
    std::vector<PathFit> fits;
    for (const MessagePoint& point : points) {
        const bool is_same = !fits.empty() && fits.back().points.back().path == point.path &&
                             fits.back().points.back().operation == point.operation;
        if (!is_same) fits.emplace_back();
        fits.back().points.push_back(point);
    }
    for (PathFit& fit : fits) {
        try {
            fit.fit = fit_network(fit.points);
        } catch (const InputError&) {  // one size
            continue;
        }
    }
    return fits;
}

Cell percents(double low, double high)
{
    return {Spread{0.5 * (low + high), low, high}, fmt::format("{} to {}", percent(low), percent(high)), true};
}

DataTable scaling_prediction_table(const ScalingPrediction& prediction)
{
    using P = const PredictedScaling&;
    static const std::vector<ColumnOf<PredictedScaling>> columns{
        {"nodes", "nodes", [](P p) { return count(p.nodes); }},
        {"ranks", "ranks", [](P p) { return count(p.ranks); }},
        {"all-reduce", "all_reduce_s", [](P p) { return seconds(p.all_reduce); }},
        {"model", "efficiency_*", [](P p) { return percents(p.bracket.low, p.bracket.high); }},
        {"as runs showed", "interval_*", [](P p) { return percents(p.interval.low, p.interval.high); }},
        {"images/s", "images_per_s_*",
         [](P p) {
             return Cell{Spread{p.images_low, p.images_low, p.images_high},
                         fmt::format("{} to {}", plain_number(p.images_low), plain_number(p.images_high)), true};
         }},
        {"remark", "remark", [](P p) { return word(p.remark); }},
    };
    return table_of(columns, prediction.rows,
                    {.title = "Efficiency over nodes (predicted: no overlap of communication to full overlap)"});
}

DataTable held_out_table(const ScalingPrediction& prediction)
{
    using H = const HeldOut&;
    static const std::vector<ColumnOf<HeldOut>> columns{
        {"", "row", [](H h) { return word(h.row); }},
        {"scaling", "scaling", [](H h) { return word(h.is_strong ? "strong" : "weak"); }},
        {"ranks", "ranks", [](H h) { return count(h.ranks); }},
        {"images/s", "images_per_s", [](H h) { return plain(h.images); }},
        {"work", "work_ratio", [](H h) { return plain(h.work / h.alone); }},
        {"exposed", "exposed_s", [](H h) { return seconds(h.exposed); }},
        {"exposed, predicted", "exposed_predicted_*_s",
         [](H h) {
             const auto beyond = [&](double efficiency) { return std::max(0.0, h.alone.value * (1 / efficiency - 1)); };
             const double low = beyond(h.interval.high);
             const double high = beyond(h.interval.low);
             return Cell{Spread{0.5 * (low + high), low, high},
                         fmt::format("{} to {}", format_si(low, "s"), format_si(high, "s")), true};
         }},
        {"speedup", "speedup", [](H h) { return plain(h.measured * h.ranks); }},
        {"fitted on", "fitted_ranks", [](H h) { return word(h.fitted_on); }},
        {"predicted", "efficiency_*", [](H h) { return percents(h.interval.low, h.interval.high); }},
        {"efficiency", "measured", [](H h) { return share(h.measured); }},
        {"finding", "finding", [](H h) { return word(name(judge_bracket(h.interval, h.measured))); }},
    };
    return table_of(
        columns, prediction.held_out,
        {.title = "Measured rows of several ranks, and their efficiencies predicted without them (speedup: to one rank "
                  "with as many images as each of these has; work: the step without what is exposed, to that rank's "
                  "step)",
         .expendable = {"fitted on", "speedup", "exposed, predicted"}});
}

/// Of a lower bound no high end is known.
Cell plateau(const NetworkFit& fit)
{
    if (!fit.plateau_is_bound) return range(fit.plateau, "B/s");
    const double rate = fit.plateau.median.value;
    return {Spread{rate, fit.plateau.low.value, INFINITY}, "≥ " + format_si(rate, "B/s"), true};
}

}  // namespace

DataTable network_table(std::span<const MessagePoint> points)
{
    using F = const PathFit&;
    static const std::vector<ColumnOf<PathFit>> columns{
        {"messages", "operation", [](F f) { return word(f.points.front().operation); }},
        {"path", "path", [](F f) { return word(f.points.front().path); }},
        {"ranks", "ranks", [](F f) { return count(f.points.front().ranks); }},
        {"nodes", "nodes",
         [](F f) { return word(f.points.front().nodes.substr(0, f.points.front().nodes.find(','))); }},
        {"alpha", "alpha_*_s", [](F f) { return f.fit ? range(f.fit->alpha, "s") : absent(); }},
        {"beta", "beta_*_bytes_per_s", [](F f) { return f.fit ? range(f.fit->beta, "B/s") : absent(); }},
        {"plateau", "plateau_*_bytes_per_s", [](F f) { return f.fit ? plateau(*f.fit) : absent(); }},
        {"misfit", "misfit", [](F f) { return f.fit ? share(f.fit->misfit) : absent(); }},
    };
    return table_of(columns, fits_of(points),
                    {.title = "Messages between ranks (plateau: measured; alpha and beta: fitted to the measured "
                              "times; misfit: the largest error of the fit)",
                     .expendable = {"nodes", "ranks", "misfit"}});
}

std::string to_text(const ScalingPrediction& prediction, int columns)
{
    const auto fit = [](const char* what, const NetworkFit& of) {
        return fmt::format("{}: alpha {}, beta {}, misfit {}\n", what, with_interval(of.alpha, "s"),
                           with_interval(of.beta, "B/s"), percent(of.misfit));
    };
    std::string text =
        fmt::format("{}: {} of gradients\none rank (measured): {}: {}, forward {}, scatter {}\n", prediction.model,
                    format_si(prediction.gradients.value, "B"), prediction.one_rank,
                    format_si(prediction.one.step.value, "s"), format_si(prediction.one.forward.value, "s"),
                    std::isnan(prediction.one.sigma.value) ? "not known" : format_si(prediction.one.sigma.value, "s"));
    text += fit("all-reduce (fitted)", prediction.between);
    if (prediction.within) text += fit("within a node (fitted)", *prediction.within);
    text += '\n' + to_text(scaling_prediction_table(prediction), columns);
    if (!prediction.held_out.empty()) text += '\n' + to_text(held_out_table(prediction), columns);
    for (const std::string& note : prediction.notes) text += '\n' + note + '\n';
    return text;
}

nlohmann::json to_json(const ScalingPrediction& prediction)
{
    return {{"model", prediction.model},
            {"one_rank", prediction.one_rank},
            {"alpha_s", json_number(prediction.between.alpha.median.value)},
            {"beta_bytes_per_s", json_number(prediction.between.beta.median.value)},
            {"misfit", json_number(prediction.between.misfit)},
            {"gradients_bytes", json_number(prediction.gradients.value)},
            {"reach", json_number(prediction.reach)},
            {"nodes", to_json(scaling_prediction_table(prediction))},
            {"held_out", to_json(held_out_table(prediction))},
            {"notes", prediction.notes}};
}

std::string network_text(std::span<const Measurement> rows, int columns)
{
    const std::vector<MessagePoint> points = messages_in(rows);
    if (points.empty()) return {};
    return to_text(network_table(points), columns);
}

}  // namespace roof::analysis
