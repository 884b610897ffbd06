#include "analysis/report/roof_lines.hpp"

#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>

namespace roof::analysis {

namespace {

constexpr double letter_width = 7.4;  ///< letter width of roof labels in pixels

/// The figures of a data sheet have no samples.
bool is_measured(const Ceiling& roof)
{
    return roof.rate.n > 0;
}

/// "DRAM, update: 58.0 GB/s": the figures of a data sheet have no operation.
std::string label_of(const Ceiling& roof)
{
    return fmt::format("{}{}{}: {}", level_or_precision(roof), roof.operation.empty() ? "" : ", ", roof.operation,
                       format_si(roof.rate.median.value, roof.unit()));
}

std::string sentence(const Ceiling& roof)
{
    if (!is_measured(roof)) return label_of(roof) + ", spec";
    const std::string_view how = timed(roof.variant);
    const std::string known = roof.devices > 1 ? fmt::format("{} on {} devices and added", how, roof.devices)
                                               : fmt::format("{} with {}", how, threads_text(roof.threads));
    return fmt::format("{} roof, {}: {}, {} samples, {}{}{}", level_or_precision(roof), known,
                       with_interval(roof.rate, roof.unit()), roof.rate.n, roof.operation,
                       roof.isa.empty() ? "" : " on ", roof.isa);
}

double length_of(const std::string& label)
{
    return letter_width * static_cast<double>(label.size());
}

using Line = std::pair<Spot, Spot>;

/// The part of rate = bandwidth * intensity inside the plot and below `peak`.
Line diagonal(const LogPlot& plot, double bandwidth, double peak)
{
    const double from = std::max(plot.x.low, plot.y.low / bandwidth);
    const double to = std::min(plot.x.high, peak / bandwidth);
    return {plot(from, from * bandwidth), plot(to, to * bandwidth)};
}

bool is_inside(const LogPlot& plot, double bandwidth, double peak)
{
    return std::max(plot.x.low, plot.y.low / bandwidth) < std::min(plot.x.high, peak / bandwidth);
}

/// `line_at`: the line of the roof at a rate.
void draw_roof(Svg& svg, const Ceiling& roof, std::string_view css, const std::function<Line(double)>& line_at)
{
    const auto [low_a, low_b] = line_at(roof.rate.low.value);
    const auto [high_a, high_b] = line_at(roof.rate.high.value);
    const auto [from, to] = line_at(roof.rate.median.value);
    svg.open(is_measured(roof) ? css : "roof mix", sentence(roof));
    svg.polygon({low_a, low_b, high_b, high_a}, "band");
    svg.line(from, to, "edge");
    svg.close();
}

/// Places the names of roofs along parallel lines: above a line, else below it, else farther along. `across` is the
/// position of a line perpendicular to itself, growing downwards.
class Labels {
  public:
    struct Place {
        double along = 0;     ///< distance from the start of the line
        double baseline = 0;  ///< distance below the line
    };

    explicit Labels(std::vector<double> lines) : lines_(std::move(lines)) {}

    Place place(double across, double length)
    {
        std::vector<double> starts{0};
        for (const Box& box : taken_) starts.push_back(box.end + 2 * letter_width);
        return place_at(starts, across, length).value_or(Place{0, above});
    }

    /// A place at the start of the line, or nullopt.
    std::optional<Place> place_at_start(double across, double length) { return place_at({0}, across, length); }

  private:
    static constexpr double above = -5;
    static constexpr double below = 14;
    static constexpr double height = 10;

    struct Box {
        double top, bottom, begin, end;
    };
    std::optional<Place> place_at(const std::vector<double>& starts, double across, double length)
    {
        for (const bool between_lines : {true, false})
            for (const double start : starts)
                for (const double baseline : {above, below}) {
                    const Box box{across + baseline - height, across + baseline, start, start + length};
                    if (!free(box) || (between_lines && crossed(box))) continue;
                    taken_.push_back(box);
                    return Place{start, baseline};
                }
        return std::nullopt;
    }
    bool free(const Box& box) const
    {
        return std::none_of(taken_.begin(), taken_.end(), [&](const Box& other) {
            return other.top < box.bottom && box.top < other.bottom && other.begin < box.end && box.begin < other.end;
        });
    }
    bool crossed(const Box& box) const
    {
        return std::any_of(lines_.begin(), lines_.end(),
                           [&](double line) { return line > box.top - 1 && line < box.bottom + 1; });
    }

    std::vector<double> lines_;
    std::vector<Box> taken_;
};

void label_levels(Svg& svg, const LogPlot& plot, const Roofs& roofs, double peak)
{
    const double slope = -(plot.bottom() - plot.top()) / std::log(plot.y.high / plot.y.low) *
                         std::log(plot.x.high / plot.x.low) / (plot.right() - plot.left());
    const double angle = std::atan(slope);
    const double c = std::cos(angle), s = std::sin(angle);
    std::vector<const Ceiling*> shown;
    for (const Ceiling* roof : roofs.levels)
        if (is_inside(plot, roof->rate.median.value, peak)) shown.push_back(roof);
    std::vector<double> lines;
    std::vector<Spot> starts;
    for (const Ceiling* roof : shown) {
        starts.push_back(diagonal(plot, roof->rate.median.value, peak).first);
        lines.push_back(c * starts.back().y - s * starts.back().x);
    }
    Labels labels(lines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string label = label_of(*shown[i]);
        const auto [along, baseline] = labels.place(lines[i], length_of(label));
        const double forward = along + 14;
        svg.text({starts[i].x + forward * c - baseline * s, starts[i].y + forward * s + baseline * c}, label, "name",
                 Anchor::start, angle * 180 / std::numbers::pi);
    }
}

/// Labels the precisions. A mix, which is not a roof for layers, is labelled only if there is space at the frame.
void label_precisions(Svg& svg, const LogPlot& plot, const Roofs& roofs)
{
    std::vector<const Ceiling*> all = roofs.compute;
    all.insert(all.end(), roofs.mixes.begin(), roofs.mixes.end());
    std::vector<double> lines;
    for (const Ceiling* roof : all) lines.push_back(plot.y(roof->rate.median.value));
    Labels labels(lines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string label = label_of(*all[i]);
        const double length = length_of(label);
        const bool is_mix = i >= roofs.compute.size();
        const auto place = is_mix ? labels.place_at_start(lines[i], length) : labels.place(lines[i], length);
        if (place) svg.text({plot.right() - 4 - place->along, lines[i] + place->baseline}, label, "name", Anchor::end);
    }
}

double highest(const Roofs& roofs, const LogPlot& plot)
{
    return roofs.compute.empty() ? plot.y.high : roofs.compute.front()->rate.median.value;
}

}  // namespace

LogPlot roofline_plot(const Frame& frame, double bottom, const std::string& x_label)
{
    return {{frame.intensity.low, frame.intensity.high, 96, 1032},
            {frame.rate.low, frame.rate.high, bottom, 40},
            x_label,
            "rate (FLOP/s)"};
}

void draw_roofs(Svg& svg, const LogPlot& plot, const Roofs& roofs)
{
    const double peak = highest(roofs, plot);
    double fastest = 0;
    for (const Ceiling* roof : roofs.levels) fastest = std::max(fastest, roof->rate.median.value);
    for (const Ceiling* roof : roofs.levels)
        if (is_inside(plot, roof->rate.median.value, peak))
            draw_roof(svg, *roof, "roof", [&](double rate) { return diagonal(plot, rate, peak); });
    const auto draw_compute = [&](const Ceiling& roof, std::string_view css) {
        const double from = fastest > 0 ? std::max(plot.x.low, roof.rate.median.value / fastest) : plot.x.low;
        draw_roof(svg, roof, css, [&](double rate) { return Line{plot(from, rate), plot(plot.x.high, rate)}; });
    };
    for (const Ceiling* roof : roofs.compute) draw_compute(*roof, "roof");
    for (const Ceiling* roof : roofs.mixes) draw_compute(*roof, "roof mix");
}

void name_roofs(Svg& svg, const LogPlot& plot, const Roofs& roofs)
{
    label_levels(svg, plot, roofs, highest(roofs, plot));
    label_precisions(svg, plot, roofs);
}

Svg roofline_svg(double height, const std::string& label, const LogPlot& plot, const Roofs& roofs,
                 const std::string& clip)
{
    Svg svg(1060, height, label);
    draw_axes(
        svg, plot, decade_ticks(plot.x.low, plot.x.high), [](double v) { return fmt::format("{:g}", v); },
        decade_ticks(plot.y.low, plot.y.high), [](double v) { return tick_text(v, "FLOP/s"); });
    svg.open_clip(clip, plot);
    draw_roofs(svg, plot, roofs);
    return svg;
}

Shape shape_of(const Placement& p)
{
    if (p.phase == Phase::backward) return Shape::square;
    return p.phase == Phase::update ? Shape::triangle : Shape::circle;
}

double radius_of(const Placement& p, Seconds step)
{
    constexpr double radius_of_whole_step = 26;
    const double share = step.value > 0 ? std::clamp(p.seconds.median / step, 0.0, 1.0) : 0;
    return std::max(2.5, radius_of_whole_step * std::sqrt(share));
}

}  // namespace roof::analysis
