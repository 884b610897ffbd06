#include "analysis/estimate/network_fit.hpp"

#include "analysis/estimate/node_scaling.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/error.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>

namespace roof::analysis {

namespace {

constexpr int draws = 400;

/// 4 for "2x2", 2 for "0-1"; 0 for other texts.
int ranks_of(const std::string& path)
{
    const std::vector<std::string> words = split(path, 'x');
    if (words.size() != 2) return 2;
    const auto nodes = parse_number<int>(words[0]);
    const auto each = parse_number<int>(words[1]);
    return nodes && each && *nodes > 0 && *each > 0 && *nodes <= 1'000'000 / *each ? *nodes * *each : 0;
}

MessagePoint message_of(const PointSummary& summary)
{
    const Measurement& row = summary.best;
    MessagePoint point;
    point.path = row.point.text("path");
    point.operation = row.point.text_or("operation", "pair");
    point.ranks = ranks_of(point.path);
    point.size = Bytes{row.point.number("size")};
    const bool reduces = point.operation == "allreduce";
    const double n = point.ranks;
    point.steps = reduces ? 2 * (n - 1) : 1;
    point.bytes = point.size * (reduces ? 2 * (n - 1) / n : 1);
    for (const Round& round : summary.samples)
        for (const RateSample& sample : round)
            if (sample.rate > 0) point.seconds.push_back(point.bytes.value / sample.rate);
    const SustainedRate sustained = summary.sustained();
    const Rate& rate = sustained.rate;
    point.rate = {ByteRate{rate.median.value}, ByteRate{rate.low.value}, ByteRate{rate.high.value}, rate.n, 0};
    point.is_lower_bound = sustained.steadiness == Steadiness::at_least;
    point.rounds = point.is_lower_bound ? 0 : sustained.rounds;
    point.nodes = row.variant;
    return point;
}

/// Weighted least squares for t = steps a + bytes b, neither below 0. `times` has one for each point.
AlphaBeta solve(std::span<const MessagePoint> points, const std::vector<double>& times)
{
    double ss = 0, sb = 0, bb = 0, s1 = 0, b1 = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const double s = points[i].steps / times[i];
        const double b = points[i].bytes.value / times[i];
        ss += s * s;
        sb += s * b;
        bb += b * b;
        s1 += s;
        b1 += b;
    }
    const double determinant = ss * bb - sb * sb;
    double alpha = determinant > 0 ? (s1 * bb - b1 * sb) / determinant : 0;
    double inverse = determinant > 0 ? (b1 * ss - s1 * sb) / determinant : b1 / bb;
    if (alpha < 0) {
        alpha = 0;
        inverse = b1 / bb;
    }
    if (!(inverse > 0)) {
        alpha = s1 / ss;
        inverse = 0;
    }
    return {Seconds{alpha}, ByteRate{inverse > 0 ? 1 / inverse : INFINITY}};
}

template <class Unit, class Of>
Estimate<Unit> interval_of(const std::vector<AlphaBeta>& drawn, double best, int n, const Of& of)
{
    std::vector<double> values = mapped(drawn, of);
    std::ranges::sort(values);
    const auto at = [&](double share) {
        return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
    };
    return {Unit{best}, Unit{std::min(best, at(0.025))}, Unit{std::max(best, at(0.975))}, n, 0};
}

}  // namespace

std::vector<MessagePoint> messages_in(std::span<const Measurement> rows)
{
    std::vector<MessagePoint> points;
    for (const PointSummary& summary : summarize_points(rows)) {
        const Measurement& row = summary.best;
        if ((row.bench != "network" && row.bench != "network_pair") || summary.rounds == 0) continue;
        MessagePoint point = message_of(summary);
        if (point.ranks >= 2 && !point.seconds.empty()) points.push_back(std::move(point));
    }
    std::ranges::stable_sort(points, [](const MessagePoint& a, const MessagePoint& b) {
        return std::tie(a.operation, a.ranks, a.path, a.size.value) <
               std::tie(b.operation, b.ranks, b.path, b.size.value);
    });
    return points;
}

NetworkFit fit_network(std::span<const MessagePoint> points)
{
    std::set<double> sizes;
    for (const MessagePoint& point : points) sizes.insert(point.size.value);
    if (sizes.size() < 2) throw InputError("a latency and a bandwidth need messages of two sizes");
    std::vector<double> times;
    int n = 0;
    for (const MessagePoint& point : points) {
        times.push_back(spread_of(point.seconds).median);
        n += static_cast<int>(point.seconds.size());
    }
    NetworkFit fit;
    fit.best = solve(points, times);
    const auto fastest =
        std::ranges::max_element(points, {}, [](const MessagePoint& p) { return p.rate.median.value; });
    fit.plateau = fastest->rate;
    fit.plateau_is_bound = fastest->is_lower_bound;
    for (std::size_t i = 0; i < points.size(); ++i)
        fit.misfit = std::max(fit.misfit, std::abs(fit.best.of(points[i]).value / times[i] - 1));
    std::mt19937 random(1);
    for (int draw = 0; draw < draws; ++draw) {
        std::vector<double> drawn;
        for (const MessagePoint& point : points) {
            std::vector<double> again;
            for (std::size_t i = 0; i < point.seconds.size(); ++i)
                again.push_back(point.seconds[random() % point.seconds.size()]);
            drawn.push_back(spread_of(again).median);
        }
        fit.draws.push_back(solve(points, drawn));
    }
    const bool is_known = std::ranges::any_of(points, [](const MessagePoint& p) { return p.seconds.size() > 1; });
    if (!is_known) {
        constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
        fit.alpha = {fit.best.alpha, Seconds{unknown}, Seconds{unknown}, n, 0};
        fit.beta = {fit.best.beta, ByteRate{unknown}, ByteRate{unknown}, n, 0};
        return fit;
    }
    fit.alpha =
        interval_of<Seconds>(fit.draws, fit.best.alpha.value, n, [](const AlphaBeta& d) { return d.alpha.value; });
    fit.beta =
        interval_of<ByteRate>(fit.draws, fit.best.beta.value, n, [](const AlphaBeta& d) { return d.beta.value; });
    return fit;
}

std::vector<std::pair<std::string, const MessagePoint*>> links_in(std::span<const MessagePoint> points)
{
    std::map<std::string, const MessagePoint*> largest;
    for (const MessagePoint& point : points) {
        if (point.operation != "pair" || !(point.rate.low.value > 0)) continue;
        const MessagePoint*& kept = largest[point.path];
        if (kept == nullptr || kept->size < point.size) kept = &point;
    }
    std::vector<std::pair<std::string, const MessagePoint*>> links;
    for (const auto& [path, point] : largest) {
        std::string nodes = point->nodes.substr(0, point->nodes.find(','));
        if (split(nodes, ' ').size() == 2) links.emplace_back(std::move(nodes), point);
    }
    return links;
}

// Tables of measured messages and of efficiencies predicted for more nodes.

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

template <class Text>
Cell from_to(double low, double high, const Text& text)
{
    return {Spread{0.5 * (low + high), low, high}, fmt::format("{} to {}", text(low), text(high)), true};
}

Cell percents(const Bracket& of)
{
    return from_to(of.low, of.high, percent);
}

DataTable scaling_prediction_table(const ScalingPrediction& prediction)
{
    using P = const PredictedScaling&;
    static const std::vector<ColumnOf<PredictedScaling>> columns{
        {"nodes", "nodes", [](P p) { return count(p.nodes); }},
        {"ranks", "ranks", [](P p) { return count(p.ranks); }},
        {"all-reduce", "all_reduce_s", [](P p) { return seconds(p.all_reduce); }},
        {"model", "efficiency_*", [](P p) { return percents(p.bracket); }},
        {"as runs showed", "interval_*", [](P p) { return percents(p.interval); }},
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
             return from_to(beyond(h.interval.high), beyond(h.interval.low),
                            [](double seconds) { return format_si(seconds, "s"); });
         }},
        {"speedup", "speedup", [](H h) { return plain(h.measured * h.ranks); }},
        {"fitted on", "fitted_ranks", [](H h) { return word(h.fitted_on); }},
        {"predicted", "efficiency_*", [](H h) { return percents(h.interval); }},
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
