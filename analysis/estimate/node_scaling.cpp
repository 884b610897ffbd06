#include "analysis/estimate/node_scaling.hpp"

#include "analysis/estimate/estimate.hpp"
#include "analysis/estimate/machine_estimate.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/error.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>

namespace roof::analysis {
namespace {

constexpr int farthest = 8;  ///< times the number of measured nodes
constexpr double bytes_per_parameter = 4;

struct TimedStep {
    Seconds step;
    Seconds forward;
};

std::vector<TimedStep> steps_of(const Measurement& row)
{
    std::vector<TimedStep> steps;
    for (const Sample& sample : row.samples)
        if (sample.used && sample.seconds.value > 0) steps.push_back({sample.seconds, sample.forward});
    return steps;
}

OneRank summary_of(const std::vector<TimedStep>& steps)
{
    const std::vector<double> step = mapped(steps, [](const TimedStep& one) { return one.step.value; });
    const std::vector<double> forward = mapped(steps, [](const TimedStep& one) { return one.forward.value; });
    const double mean = std::accumulate(step.begin(), step.end(), 0.0) / static_cast<double>(step.size());
    double squares = 0;
    for (const double value : step) squares += (value - mean) * (value - mean);
    const double sigma = step.size() < 2 ? std::numeric_limits<double>::quiet_NaN()
                                         : std::sqrt(squares / static_cast<double>(step.size() - 1));
    return {Seconds{spread_of(step).median}, Seconds{spread_of(forward).median}, Seconds{sigma}};
}

bool trains(const Measurement& row, const ScalingRequest& request)
{
    return row.role == Role::step && row.status == Status::ok && model_of(row) == request.model &&
           (request.batch == 0 || batch_of(row) == request.batch) && !steps_of(row).empty();
}

/// The steps of one rank with the largest batch, and of those with the fewest threads that fit `threads`; 0: the most.
const Measurement* one_rank_row(const ScalingRequest& request, std::span<const Measurement> rows, int threads,
                                long long batch)
{
    const Measurement* best = nullptr;
    for (const Measurement& row : rows) {
        if (!trains(row, request) || row.ranks() != 1) continue;
        if (threads > 0 && threads_of(row) != threads) continue;
        if (batch > 0 && batch_of(row) != batch) continue;
        const auto order = [](const Measurement& r) { return std::pair{batch_of(r), threads_of(r)}; };
        if (best == nullptr || order(*best) < order(row)) best = &row;
    }
    return best;
}

int nodes_of(const MessagePoint& point)
{
    return parse_number<int>(split(point.path, 'x').front()).value_or(0);
}

/// All-reduces over fewer than `below` ranks (0: any); between nodes with one rank on each, or within one node.
std::vector<MessagePoint> all_reduces(const std::vector<MessagePoint>& points, bool within, int below)
{
    std::vector<MessagePoint> found;
    for (const MessagePoint& point : points) {
        if (point.operation != "allreduce" || (below > 0 && point.ranks >= below)) continue;
        if (within ? nodes_of(point) == 1 : (nodes_of(point) > 1 && point.ranks / nodes_of(point) == 1))
            found.push_back(point);
    }
    return found;
}

Link link_of(const AlphaBeta& fit)
{
    return {"fitted", fit.alpha, fit.beta};
}

struct Inputs {
    std::vector<TimedStep> steps;
    Bytes gradients;
    const NetworkFit* between = nullptr;
    const NetworkFit* within = nullptr;
};

PredictedScaling predict_one(const Inputs& from, int nodes, int per_node)
{
    const Link unused{};
    const auto reduce = [&](const AlphaBeta* between, const AlphaBeta* within) {
        return all_reduce_time(from.gradients, nodes, per_node, between != nullptr ? link_of(*between) : unused,
                               within != nullptr ? link_of(*within) : unused);
    };
    const auto best = [](const NetworkFit* fit) { return fit == nullptr ? nullptr : &fit->best; };
    PredictedScaling row{.nodes = nodes, .ranks = nodes * per_node, .all_reduce = {}, .bracket = {}, .interval = {}};
    row.all_reduce = reduce(best(from.between), best(from.within));
    row.bracket = efficiency_bracket(summary_of(from.steps), row.all_reduce, row.ranks);
    constexpr std::size_t draws = 400;
    std::mt19937 random(1);
    std::vector<double> lows;
    std::vector<double> highs;
    const auto drawn = [&](const NetworkFit* fit) {
        return fit == nullptr ? nullptr : &fit->draws[random() % fit->draws.size()];
    };
    for (std::size_t draw = 0; draw < draws; ++draw) {
        std::vector<TimedStep> again;
        for (std::size_t i = 0; i < from.steps.size(); ++i) again.push_back(from.steps[random() % from.steps.size()]);
        const Bracket one =
            efficiency_bracket(summary_of(again), reduce(drawn(from.between), drawn(from.within)), row.ranks);
        lows.push_back(one.low);
        highs.push_back(one.high);
    }
    std::ranges::sort(lows);
    std::ranges::sort(highs);
    row.interval = {std::min(row.bracket.low, lows[draws / 40]),
                    std::max(row.bracket.high, highs[draws - 1 - draws / 40])};
    return row;
}

/// Measured rows of several ranks, each predicted from messages between fewer ranks where there are any.
std::vector<HeldOut> held_out_rows(const ScalingRequest& request, const ScalingPrediction& prediction,
                                   const std::vector<Measurement>& rows, const std::vector<int>& nodes,
                                   const std::vector<MessagePoint>& points)
{
    std::vector<HeldOut> all;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Measurement& row = rows[i];
        if (!trains(row, request) || row.ranks() < 2) continue;
        const bool is_strong = row.point.text_or("scaling", "weak") == "strong";
        const long long batch = is_strong ? batch_of(row) / row.ranks() : batch_of(row);
        const int ranks_here = std::max(1, row.ranks() / nodes[i]);
        const Measurement* const one = one_rank_row(request, rows, std::max(1, threads_of(row) / ranks_here), batch);
        if (one == nullptr || one->images_per_second().median <= 0) continue;
        std::vector<MessagePoint> messages;
        bool within = false;
        int below = row.ranks();
        for (const int limit : {row.ranks(), row.ranks() + 1}) {
            for (const bool inside : {false, true}) {
                if (!messages.empty()) break;
                messages = all_reduces(points, inside, limit);
                within = inside;
                below = limit;
            }
        }
        if (messages.empty()) continue;
        const NetworkFit fit = fit_network(messages);
        const Inputs inputs{steps_of(*one), prediction.gradients, within ? nullptr : &fit, within ? &fit : nullptr};
        const PredictedScaling predicted = predict_one(inputs, within ? 1 : row.ranks(), within ? row.ranks() : 1);
        int most = 0;
        for (const MessagePoint& point : messages) most = std::max(most, point.ranks);
        all.push_back({.row = row.id(),
                       .is_strong = is_strong,
                       .ranks = row.ranks(),
                       .images = row.images_per_second().median,
                       .exposed = row.exposed.median,
                       .work = row.seconds.median - row.exposed.median,
                       .alone = one->seconds.median,
                       .fitted_on = fmt::format("{} ranks{}", most, below > row.ranks() ? ": not held out" : ""),
                       .interval = predicted.interval,
                       .measured = row.images_per_second().median / one->images_per_second().median / row.ranks()});
    }
    std::ranges::stable_sort(all, {}, [](const HeldOut& held) { return std::pair(held.is_strong, held.ranks); });
    return all;
}

}  // namespace

Seconds all_reduce_time(Bytes gradients, int nodes, int per_node, const Link& between, const Link& within)
{
    Seconds time{};
    if (per_node > 1) time += ring_all_reduce(gradients, per_node, within);
    if (nodes > 1) time += ring_all_reduce(gradients, nodes, between);
    return time;
}

Bracket efficiency_bracket(const OneRank& one, Seconds all_reduce, int ranks)
{
    const double sigma = std::isnan(one.sigma.value) ? 0 : one.sigma.value;
    const Seconds late{sigma * std::sqrt(2 * std::log(static_cast<double>(ranks)))};
    const Seconds overlapped = std::max(one.step, one.forward + all_reduce);
    return {one.step / (one.step + all_reduce + late), one.step / overlapped};
}

InBracket judge_bracket(const Bracket& bracket, double efficiency)
{
    constexpr double rounding = 0.01;
    if (efficiency < bracket.low) return InBracket::below;
    return efficiency > bracket.high + rounding ? InBracket::above : InBracket::inside;
}

ScalingPrediction predict_scaling(const ScalingRequest& request, std::span<const Results> measured)
{
    std::vector<Measurement> rows;
    std::vector<int> nodes_of_rows;
    std::vector<MessagePoint> points;
    for (const Results& results : measured) {
        const int nodes = static_cast<int>(std::max<std::size_t>(1, count_nodes(results.machine)));
        rows.insert(rows.end(), results.rows.begin(), results.rows.end());
        nodes_of_rows.resize(rows.size(), nodes);
        std::ranges::move(messages_in(results.rows), std::back_inserter(points));
    }
    const Measurement* const one = one_rank_row(request, rows, 0, 0);
    if (one == nullptr)
        throw InputError(fmt::format("--from: no row there trains {} on one rank", printable(request.model)));
    std::vector<MessagePoint> between = all_reduces(points, false, 0);
    ScalingPrediction prediction;
    prediction.model = request.model;
    prediction.one_rank = one->id();
    prediction.one = summary_of(steps_of(*one));
    prediction.gradients =
        Bytes{bytes_per_parameter * static_cast<double>(estimate_model({.model = request.model}).parameters)};
    const std::vector<MessagePoint> within = all_reduces(points, true, 0);
    if (between.empty()) {
        between = within;
        prediction.notes.emplace_back(
            "all messages were measured on one node: they cross its memory, and say nothing of a network");
    }
    if (between.empty())
        throw InputError("--from: no all-reduce was measured there: mpirun -n 2 roof calibrate --ranks 2");
    int measured_nodes = 1;  // the most over which messages were measured
    for (const MessagePoint& point : between)
        measured_nodes = std::max(measured_nodes, nodes_of(point) > 1 ? nodes_of(point) : point.ranks);
    prediction.between = fit_network(between);
    if (request.per_node > 1) {
        if (within.empty()) throw InputError("--from: no all-reduce between ranks of one node was measured there");
        prediction.within = fit_network(within);
    }
    const Inputs inputs{steps_of(*one), prediction.gradients, &prediction.between,
                        prediction.within ? &*prediction.within : nullptr};
    prediction.held_out = held_out_rows(request, prediction, rows, nodes_of_rows, points);
    for (const HeldOut& held : prediction.held_out)
        prediction.reach = std::min(prediction.reach, held.measured / held.interval.low);
    prediction.notes.push_back(fmt::format(
        "The model is the bracket without what it lacks. As runs showed: its low end times {:.2f}, as far below it as "
        "{} (docs/network.md: of 28 rows held out, 27 lie inside).",
        prediction.reach, prediction.reach < published_reach ? "a measured row above" : "published runs lay"));
    if (std::isnan(prediction.one.sigma.value))
        prediction.notes.emplace_back(
            "Of one step the scatter is not known: the low ends have no wait for late ranks.");
    for (const int nodes : request.nodes) {
        PredictedScaling row = predict_one(inputs, nodes, request.per_node);
        row.interval.low *= prediction.reach;
        const double rate = row.ranks * one->images() / prediction.one.step.value;
        row.images_low = rate * row.interval.low;
        row.images_high = rate * row.interval.high;
        if (nodes > farthest * measured_nodes)
            row.remark = fmt::format("beyond {} times the {} nodes that were measured", farthest, measured_nodes);
        prediction.rows.push_back(std::move(row));
    }
    return prediction;
}

}  // namespace roof::analysis
