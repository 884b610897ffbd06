#include "analysis/report/figure.hpp"

#include "analysis/table/quantities.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace roof::analysis {

void Extent::add(double value)
{
    if (!(value > 0) || !std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
}

double power_below(double base, double value)
{
    return std::pow(base, std::floor(std::log(value) / std::log(base) + 1e-9));
}

double power_above(double base, double value)
{
    return std::pow(base, std::ceil(std::log(value) / std::log(base) - 1e-9));
}

std::vector<Tick> Axis::ticks_in(double low, double high) const
{
    const int most = linear || high > 1000 * low ? 0 : high > 10 * low ? 1 : 2;
    std::vector<Tick> drawn;
    for (const Tick& tick : ticks)
        if (tick.rank <= most && tick.at >= low * (1 - 1e-9) && tick.at <= high * (1 + 1e-9)) drawn.push_back(tick);
    return drawn;
}

double Axis::along(double value, double from, double to) const
{
    const auto& [low, high] = frame;
    return from + (to - from) * (linear ? (value - low) / (high - low) : std::log(value / low) / std::log(high / low));
}

std::vector<Tick> decade_ticks(double low, double high, const std::function<std::string(double)>& text)
{
    std::vector<Tick> ticks;
    if (!(low > 0) || !std::isfinite(high)) return ticks;
    for (int decade = static_cast<int>(std::floor(std::log10(low) + 1e-9)); std::pow(10, decade) <= high; ++decade)
        for (int step = 1; step < 10; ++step) {
            const double at = step * std::pow(10, decade);
            if (at >= low * (1 - 1e-9) && at <= high * (1 + 1e-9))
                ticks.push_back({at, text(at), step == 1 ? 0 : step == 2 || step == 5 ? 1 : 2});
        }
    return ticks;
}

std::vector<Tick> ticks(double low, double high, double factor, const std::function<std::string(double)>& text)
{
    constexpr double most = 60;
    if (!(low > 0) || !std::isfinite(high) || factor <= 1) return {};
    const double count = std::log(high / low) / std::log(factor);
    if (count > most) factor = std::pow(factor, std::ceil(count / most));
    std::vector<Tick> ticks;
    for (double at = low; at <= high * 1.0001; at *= factor) ticks.push_back({at, text(at), 0});
    return ticks;
}

std::pair<std::pair<double, double>, std::pair<double, double>> Figure::line_of(const RoofLine& roof, double rate,
                                                                                const Extent& across) const
{
    double end = std::numeric_limits<double>::infinity();  // the ridge point
    for (const RoofLine& other : roofs) {
        if (other.slanted == roof.slanted || other.extra || other.owner != roof.owner) continue;
        const double ridge = roof.slanted ? other.rate.median / rate : rate / other.rate.median;
        end = roof.slanted && std::isfinite(end) ? std::max(end, ridge) : std::min(end, ridge);
    }
    if (!roof.slanted) {
        const double from = std::isfinite(end) ? std::max(across.low, end) : across.low;
        return {{from, rate}, {across.high, rate}};
    }
    const double to = std::min(across.high, end);
    return {{across.low, across.low * rate}, {to, to * rate}};
}

std::vector<Ridge> Figure::ridges() const
{
    std::vector<Ridge> all;
    const auto is_main = [](const RoofLine& roof) { return !roof.extra && !roof.label.empty(); };
    std::map<std::string, double> farthest;  // by owner
    for (const RoofLine& roof : roofs)
        if (is_main(roof) && roof.slanted) {
            double& rate = farthest.try_emplace(roof.owner, roof.rate.median).first->second;
            rate = std::min(rate, roof.rate.median);
        }
    for (const RoofLine& level : roofs)
        for (const RoofLine& flat : roofs) {
            if (!is_main(level) || !is_main(flat) || !level.slanted || flat.slanted || level.owner != flat.owner)
                continue;
            const double at = flat.rate.median / level.rate.median;
            if (std::ranges::any_of(all, [&](const Ridge& r) { return r.x == at && r.y == flat.rate.median; }))
                continue;  // of another precision with the same rate
            const std::string text = plain_number(at, 2) + " FLOP/B";
            all.push_back({at, flat.rate.median,
                           fmt::format("Ridge point of {} and {}: {}", level.name, split(flat.name, ' ').front(), text),
                           level.rate.median == farthest[level.owner] ? text : ""});
        }
    return all;
}

LegendEntry series_entry(std::size_t index, const std::string& text)
{
    constexpr std::size_t colours = 8;
    constexpr std::array shapes{Shape::circle, Shape::square, Shape::triangle, Shape::diamond, Shape::cross};
    return {shapes[index / colours % shapes.size()], fmt::format("s{} dot", index % colours), text};
}

void colour(std::string& look, std::size_t series)
{
    if (const std::size_t at = look.rfind("s0"); at != std::string::npos)
        look.replace(at, 2, fmt::format("s{}", series % 8));
}

void colour(Figure& figure, std::size_t series)
{
    for (Mark& mark : figure.marks) colour(mark.look, series);
    for (Curve& curve : figure.curves) colour(curve.css, series);
    for (LegendEntry& entry : figure.legend) colour(entry.look, series);
}

std::vector<LegendEntry> legend_of(const std::vector<Mark>& marks)
{
    static const std::vector<std::pair<std::string_view, LegendEntry>> all{
        {"forward", {Shape::circle, "dot s0", "forward"}},
        {"backward", {Shape::square, "dot s0", "backward"}},
        {"update", {Shape::triangle, "dot s0", "update"}},
        {"dot", {Shape::circle, "dot s0", "1%", 2.6}},
        {"dot", {Shape::circle, "dot s0", "10% of the step", 8.2}},
        {"step", {Shape::circle, "step s0", "step, its line to its most bytes"}},
        {"outline", {Shape::square, "outline s0", "phase"}},
        {"hollow", {Shape::circle, "hollow s0", "above the slanted roof"}}};
    std::vector<LegendEntry> legend;
    for (const auto& [word, entry] : all)
        if (std::ranges::any_of(marks, [&](const Mark& mark) { return mark.look.find(word) != std::string::npos; }))
            legend.push_back(entry);
    return legend;
}

void add_series(Figure& figure, std::size_t index, const std::string& name, std::vector<Mark> marks)
{
    const LegendEntry entry = series_entry(index, name);
    Curve curve{entry.look, {}};
    for (Mark& mark : marks) {
        mark.shape = entry.shape;
        mark.look = entry.look;
        mark.whisker = true;
        curve.marks.push_back(figure.marks.size());
        figure.marks.push_back(std::move(mark));
    }
    figure.curves.push_back(std::move(curve));
    figure.legend.push_back(entry);
}

namespace {

using nlohmann::json;

json axis_json(const Axis& axis)
{
    return {{"label", axis.label},
            {"frame", {json_number(axis.frame.low), json_number(axis.frame.high)}},
            {"linear", axis.linear},
            {"ticks", mapped(axis.ticks, [](const Tick& tick) {
                 return json{tick.at, tick.text, tick.rank};
             })}};
}

}  // namespace

json to_json(const RoofLine& roof)
{
    return {{"name", json_text(roof.name)},
            {"label", json_text(roof.label)},
            {"title", json_text(roof.title)},
            {"slanted", roof.slanted},
            {"rate", {roof.rate.median, roof.rate.low, roof.rate.high}},
            {"spec", json_number(roof.spec)},
            {"dashed", roof.dashed},
            {"extra", roof.extra}};
}

json to_json(const Figure& figure)
{
    return {{"x", axis_json(figure.x)},
            {"y", axis_json(figure.y)},
            {"roofs", mapped(figure.roofs, [](const RoofLine& roof) { return to_json(roof); })}};
}

}  // namespace roof::analysis
