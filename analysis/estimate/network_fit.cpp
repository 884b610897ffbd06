#include "analysis/estimate/network_fit.hpp"

#include "ert/base/error.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
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
    std::vector<double> values;
    for (const AlphaBeta& draw : drawn) values.push_back(of(draw));
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

}  // namespace roof::analysis
