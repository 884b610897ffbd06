#include "analysis/report/terminal.hpp"

#include "analysis/report/canvas.hpp"
#include "analysis/roofline/roofs.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace roof::analysis {

namespace {

constexpr int narrowest = 40;
constexpr int margin = 13;  ///< columns of the rate axis: "100 GFLOP/s |"
constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

double intensity_at(const CanvasPlot& plot, int dot)
{
    return plot.across.low * std::pow(plot.across.high / plot.across.low, dot / (plot.canvas.dots_across() - 1.0));
}

void dot_at(CanvasPlot& plot, int x, double rate, char mark)
{
    if (plot.down.holds(rate)) plot.canvas.dot(x, static_cast<int>(std::lround(plot.down(rate))), mark);
}

/// rate = bandwidth * intensity up to the peak.
void draw_bandwidth(CanvasPlot& plot, double bandwidth, double peak)
{
    for (int x = 0; x < plot.canvas.dots_across(); ++x)
        if (const double rate = bandwidth * intensity_at(plot, x); rate < peak) dot_at(plot, x, rate, '/');
}

/// Draws a horizontal line from the ridge point of the fastest memory on.
void draw_compute(CanvasPlot& plot, double rate, double fastest)
{
    for (int x = 0; x < plot.canvas.dots_across(); ++x)
        if (fastest * intensity_at(plot, x) >= rate) dot_at(plot, x, rate, '-');
}

void draw_roofs(CanvasPlot& plot, const Roofs& roofs)
{
    double fastest = 0;
    for (const Ceiling* roof : roofs.levels) fastest = std::max(fastest, roof->rate.median.value);
    if (roofs.levels.empty()) fastest = INFINITY;
    const double peak = roofs.compute.empty() ? plot.down.high : roofs.compute.front()->rate.median.value;
    for (const Ceiling* roof : roofs.levels) draw_bandwidth(plot, roof->rate.median.value, peak);
    for (const Ceiling* roof : roofs.compute) draw_compute(plot, roof->rate.median.value, fastest);
}

/// Writes the name of each roof where there is space.
void label_roofs(CanvasPlot& plot, const Roofs& roofs)
{
    Canvas& canvas = plot.canvas;
    for (const Ceiling* roof : roofs.compute) {
        const std::string label = printable(roof->precision);
        const int length = std::min(canvas.columns(), static_cast<int>(label.size()) + 1);
        const int row = plot.row(roof->rate.median.value) - 1;
        int column = canvas.columns() - length;
        while (column > 0 && !canvas.free(column, row, length)) --column;
        canvas.write(column, row, label);
    }
    for (const Ceiling* roof : roofs.levels) {
        const double bandwidth = roof->rate.median.value;
        const int row = std::min(canvas.rows() - 1, plot.row(bandwidth * plot.across.low) + 1);
        const double rate = plot.down.low * std::pow(plot.down.high / plot.down.low, 1 - (row + 0.5) / canvas.rows());
        std::string label = printable(roof->level + " " + roof->operation);
        const int first = plot.column(rate / bandwidth) + 2;
        const auto place = [&] {
            int column = first;
            while (column < canvas.columns() && !canvas.free(column, row, static_cast<int>(label.size()))) ++column;
            return column;
        };
        int column = place();
        if (column != first) {  // in the way of another name: the level alone
            label = printable(roof->level);
            column = place();
        }
        canvas.write(column, row, label);
    }
}

std::string draw_points(CanvasPlot& plot, const Study& study, const std::string& device)
{
    std::string legend;
    std::vector<std::string> hidden;
    std::size_t next = 0;
    for (const Placement& p : study.placements) {
        if (p.scope != Scope::step || p.device != device || !(p.rate.median.value > 0)) continue;
        const std::string letter(1, next < letters.size() ? letters[next] : '*');
        ++next;
        const bool has_bytes = !p.levels.empty();
        if (!has_bytes)  // the rate is known, the intensity is not
            for (int x = 0; x < plot.canvas.dots_across(); ++x) dot_at(plot, x, p.rate.median.value, '.');
        const int column = has_bytes ? plot.column(p.levels.back().intensity_high.value) : 1;
        const int row = plot.row(p.rate.median.value);
        if (plot.canvas.free(column, row, 1))
            plot.canvas.write(column, row, letter);
        else
            hidden.push_back(letter);
        legend += fmt::format("  {} {}\n", letter, printable(explain(p)));
    }
    if (!hidden.empty()) legend += "  not drawn, behind another letter: " + join(hidden, ", ") + "\n";
    return legend;
}

std::string axis_name(int columns)
{
    const std::string whole = "arithmetic intensity at the farthest level (FLOP/B)";
    return display_columns(whole) <= static_cast<std::size_t>(columns) ? whole : "intensity (FLOP/B)";
}

std::string with_axes(const CanvasPlot& plot, bool plain)
{
    std::string text;
    const std::vector<std::string> lines = plot.canvas.lines();
    for (int row = 0; row < plot.canvas.rows(); ++row) {
        std::string tick;
        for (double rate = plot.down.high; rate >= plot.down.low * 0.99; rate /= 10)
            if (plot.row(rate) == row) tick = tick_text(rate, "FLOP/s");
        text += fmt::format("{:>{}} {}{}\n", tick, margin - 2, plain ? "|" : "│", lines[static_cast<std::size_t>(row)]);
    }
    std::string line(static_cast<std::size_t>(margin - 1), ' ');
    line += plain ? "+" : "└";
    for (int c = 0; c < plot.canvas.columns(); ++c) line += plain ? "-" : "─";
    std::string ticks(static_cast<std::size_t>(margin + plot.canvas.columns()), ' ');
    for (double i = plot.across.low; i <= plot.across.high * 1.01; i *= 10) {
        const std::string label = fmt::format("{:g}", i);
        const std::size_t at = static_cast<std::size_t>(margin + plot.column(i));
        const std::size_t begin = std::min(at, ticks.size() - label.size());
        ticks.replace(begin, label.size(), label);
    }
    return text + line + "\n" + ticks + "\n" + std::string(static_cast<std::size_t>(margin), ' ') +
           axis_name(plot.canvas.columns()) + "\n";
}

std::string roofs_legend(const Roofs& roofs, int width)
{
    std::vector<std::string> items;
    for (const auto& group : {roofs.levels, roofs.compute})
        for (const Ceiling* roof : group)
            items.push_back(fmt::format("{} {} {}", printable(level_or_precision(*roof)), printable(roof->operation),
                                        format_si(roof->rate.median.value, roof->unit())));
    const std::string_view how = timed(roofs.levels.empty() ? "" : roofs.levels.front()->variant);
    const int devices = roofs.levels.empty() ? 1 : roofs.levels.front()->devices;
    const std::string of = devices > 1 ? fmt::format("{} devices added", devices) : threads_text(roofs.threads);
    return fitted_items(fmt::format("  roofs ({}, {}):", how, of), items, width);
}

}  // namespace

std::string terminal_roofline(const Study& study, int width, bool plain)
{
    const std::string warning = calibration_warning(study);
    const std::optional<Frame> frame = frame_of(study.ceilings);
    if (!frame)
        return fitted_lines(
            warning.empty() ? "A roofline needs a bandwidth and a compute ceiling; one is missing." : warning, width);
    std::string text = warning.empty() ? "" : fitted_lines(warning, width) + "\n";
    const int wide = std::max(narrowest, width);
    const int columns = wide - margin;
    for (const std::string& device : devices_of(study.ceilings)) {
        CanvasPlot plot(frame->intensity, frame->rate, columns, std::clamp(columns / 3, 14, 34), plain);
        const Roofs roofs = roofs_of(study.ceilings, device);
        draw_roofs(plot, roofs);
        label_roofs(plot, roofs);
        const std::string legend = draw_points(plot, study, device);
        text += printable(device) + "\n" + with_axes(plot, plain) + roofs_legend(roofs, wide) +
                fitted_lines(legend, legend.empty() ? 0 : wide);
    }
    return text;
}

}  // namespace roof::analysis
