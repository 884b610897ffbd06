// Figures as text: the roofline of each device, and the rate over the batch.
#include "analysis/report/report.hpp"

#include "analysis/roofline/roofs.hpp"
#include "analysis/study/recorded/counted_kernels.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace roof::analysis {
namespace {

constexpr int narrowest = 40;
constexpr int margin = 13;  ///< columns of the rate axis: "100 GFLOP/s |"
constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A drawing of braille dots, two by four per cell, or on plain terminals one ASCII mark per cell; text is on top.
class Canvas {
  public:
    Canvas(int columns, int rows, bool plain)
        : columns_(columns), rows_(rows), plain_(plain), cells_(static_cast<std::size_t>(columns * rows))
    {
    }

    int columns() const { return columns_; }
    int rows() const { return rows_; }
    int dots_across() const { return columns_ * (plain_ ? 1 : 2); }
    int dots_down() const { return rows_ * (plain_ ? 1 : 4); }

    /// A dot at (x, y) in dots from the upper left corner; `mark` in plain drawings. Ignored outside the drawing.
    void dot(int x, int y, char mark)
    {
        // The bit of each dot in a braille pattern, by row and column (Unicode block U+2800).
        constexpr std::array<std::array<unsigned char, 2>, 4> bits{
            {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
        const int across = plain_ ? 1 : 2, down = plain_ ? 1 : 4;
        if (x < 0 || y < 0 || !inside(x / across, y / down)) return;
        Cell& at = cells_[index(x / across, y / down)];
        at.mark = mark;
        at.dots |= bits[static_cast<std::size_t>(y % down)][static_cast<std::size_t>(x % across)];
    }

    /// ASCII text over the dots, cut off at the edge.
    void write(int column, int row, std::string_view text)
    {
        for (const char letter : text) {
            if (inside(column, row)) cells_[index(column, row)].text = letter;
            ++column;
        }
    }

    bool free(int column, int row, int length) const
    {
        for (int c = column; c < column + length; ++c)
            if (!inside(c, row) || cells_[index(c, row)].text != 0) return false;
        return true;
    }

    /// The drawing in UTF-8, one line per row, without trailing blanks.
    std::vector<std::string> lines() const
    {
        std::vector<std::string> lines;
        for (int row = 0; row < rows_; ++row) {
            std::string line;
            for (int column = 0; column < columns_; ++column) {
                const auto& [dots, mark, text] = cells_[index(column, row)];
                if (text || !dots || plain_)
                    line += text ? text : dots ? mark : ' ';
                else  // U+2800 + dots as UTF-8: 0xE2, then six bits each
                    line += {static_cast<char>(0xE2), static_cast<char>(0xA0 | (dots >> 6)),
                             static_cast<char>(0x80 | (dots & 0x3F))};
            }
            lines.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
        }
        return lines;
    }

  private:
    struct Cell {
        unsigned char dots = 0;  ///< as in the braille block's code points
        char mark = 0, text = 0;
    };
    bool inside(int column, int row) const { return column >= 0 && row >= 0 && column < columns_ && row < rows_; }
    std::size_t index(int column, int row) const { return static_cast<std::size_t>(row * columns_ + column); }

    int columns_, rows_;
    bool plain_;
    std::vector<Cell> cells_;
};

/// Values outside the frame are at its edges.
struct CanvasPlot {
    const Figure& figure;
    Canvas canvas;

    double across(double x) const { return along(x, figure.x.frame, 0, canvas.dots_across() - 1.0); }
    double down(double y) const { return along(y, figure.y.frame, canvas.dots_down() - 1.0, 0); }
    int column(double x) const { return static_cast<int>(across(x)) * canvas.columns() / canvas.dots_across(); }
    int row(double y) const { return static_cast<int>(down(y)) * canvas.rows() / canvas.dots_down(); }

    static double along(double value, const Extent& frame, double from, double to)
    {
        return from + (to - from) * std::log(frame.clamped(value) / frame.low) / std::log(frame.high / frame.low);
    }
};

void dot_at(CanvasPlot& plot, int x, double rate, char mark)
{
    if (plot.figure.y.frame.holds(rate)) plot.canvas.dot(x, static_cast<int>(std::lround(plot.down(rate))), mark);
}

void draw_roofs(CanvasPlot& plot)
{
    const Extent& frame = plot.figure.x.frame;
    for (const RoofLine& roof : plot.figure.roofs) {
        if (roof.extra) continue;
        const auto [from, to] = plot.figure.line_of(roof, roof.rate.median, frame);
        for (int x = 0; x < plot.canvas.dots_across(); ++x) {
            const double at = frame.low * std::pow(frame.high / frame.low, x / (plot.canvas.dots_across() - 1.0));
            if (at < from.first * (1 - 1e-9) || at > to.first * (1 + 1e-9)) continue;
            dot_at(plot, x, roof.slanted ? roof.rate.median * at : roof.rate.median, roof.slanted ? '/' : '-');
        }
    }
}

void name_roofs(CanvasPlot& plot, const Roofs& roofs)
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
    const Extent& rates = plot.figure.y.frame;
    for (const Ceiling* roof : roofs.levels) {
        const double bandwidth = roof->rate.median.value;
        const int row = std::min(canvas.rows() - 1, plot.row(bandwidth * plot.figure.x.frame.low) + 1);
        const double rate = rates.low * std::pow(rates.high / rates.low, 1 - (row + 0.5) / canvas.rows());
        const std::string label = printable(roof->level + " " + roof->operation);
        int column = plot.column(rate / bandwidth) + 2;
        while (column < canvas.columns() && !canvas.free(column, row, static_cast<int>(label.size()))) ++column;
        canvas.write(column, row, label);
    }
}

/// A letter for each mark; '<', '>', '^' or 'v' beside it if it is outside the frame.
std::string draw_marks(CanvasPlot& plot)
{
    std::string legend;
    std::vector<std::string> hidden, outside;
    std::size_t next = 0;
    for (const Mark& mark : plot.figure.marks) {
        if (!(mark.y.median > 0)) continue;
        const std::string letter(1, next < letters.size() ? letters[next] : '*');
        ++next;
        const bool has_bytes = mark.x.median > 0;
        if (!has_bytes)  // the rate is known, the intensity is not
            for (int x = 0; x < plot.canvas.dots_across(); ++x) dot_at(plot, x, mark.y.median, '.');
        const int column = has_bytes ? plot.column(mark.x.median) : 1;
        const int row = plot.row(mark.y.median);
        if ((has_bytes && !plot.figure.x.frame.holds(mark.x.median)) || !plot.figure.y.frame.holds(mark.y.median))
            outside.push_back(letter);
        if (plot.canvas.free(column, row, 1))
            plot.canvas.write(column, row, letter);
        else
            hidden.push_back(letter);
        legend += fmt::format("  {} {}\n", letter, printable(mark.title));
    }
    if (!hidden.empty()) legend += "  not drawn, behind another letter: " + join(hidden, ", ") + "\n";
    if (!outside.empty()) legend += "  at the edge, because outside the drawing: " + join(outside, ", ") + "\n";
    return legend;
}

/// Dots between the marks of each curve, and its letter at each mark.
void draw_curves(CanvasPlot& plot)
{
    const Figure& figure = plot.figure;
    for (const Curve& curve : figure.curves)
        for (std::size_t i = 1; i < curve.marks.size(); ++i) {
            const Mark &from = figure.marks[curve.marks[i - 1]], &to = figure.marks[curve.marks[i]];
            const double begin = plot.across(from.x.median), end = plot.across(to.x.median);
            for (double x = begin; x <= end; ++x) {
                const double share = (x - begin) / std::max(1.0, end - begin);
                const double y = std::lerp(plot.down(from.y.median), plot.down(to.y.median), share);
                plot.canvas.dot(static_cast<int>(x), static_cast<int>(std::lround(y)), '.');
            }
        }
    for (std::size_t i = 0; i < figure.curves.size(); ++i)
        for (const std::size_t mark : figure.curves[i].marks)
            plot.canvas.write(plot.column(figure.marks[mark].x.median), plot.row(figure.marks[mark].y.median),
                              letters.substr(std::min(i, letters.size() - 1), 1));
}

std::string with_axes(const CanvasPlot& plot, const std::string& name_of_x, bool plain)
{
    std::string text;
    const std::vector<std::string> lines = plot.canvas.lines();
    const auto decades = [](const Axis& axis) {
        std::vector<Tick> ticks = axis.ticks_in(axis.frame.low, axis.frame.high);
        if (std::ranges::count(ticks, 0, &Tick::rank) > 1)
            std::erase_if(ticks, [](const Tick& tick) { return tick.rank > 0; });
        return ticks;
    };
    for (int row = 0; row < plot.canvas.rows(); ++row) {
        std::string name;
        for (const Tick& tick : decades(plot.figure.y))
            if (plot.row(tick.at) == row) name = tick.text;
        text += fmt::format("{:>{}} {}", name, margin - 2, plain ? "|" : "│");
        text += lines[static_cast<std::size_t>(row)] + "\n";
    }
    std::string line(static_cast<std::size_t>(margin - 1), ' ');
    line += plain ? "+" : "└";
    for (int c = 0; c < plot.canvas.columns(); ++c) line += plain ? "-" : "─";
    std::string names(static_cast<std::size_t>(margin + plot.canvas.columns()), ' ');
    for (const Tick& tick : decades(plot.figure.x)) {
        const std::size_t length = tick.text.size();
        const std::size_t at = std::min(static_cast<std::size_t>(margin + plot.column(tick.at)), names.size() - length);
        const bool touches = names.substr(at - 1, length + 1).find_first_not_of(' ') != std::string::npos;
        if (!touches) names.replace(at, length, tick.text);
    }
    return text + line + "\n" + names + "\n" + std::string(static_cast<std::size_t>(margin), ' ') + name_of_x + "\n";
}

std::string roofs_legend(const Roofs& roofs, int width, bool plain)
{
    constexpr std::string_view mark = "≥";  // of a lower bound
    if (roofs.empty()) return {};
    std::vector<std::string> items;
    for (const auto& group : {roofs.levels, roofs.compute})
        for (const Ceiling* roof : group) {
            std::string rate = rate_text(*roof);
            if (plain && rate.starts_with(mark)) rate.replace(0, mark.size(), ">=");
            items.push_back(
                fmt::format("{} {} {}", printable(level_or_precision(*roof)), printable(roof->operation), rate));
        }
    const Ceiling& any = roofs.levels.empty() ? *roofs.compute.front() : *roofs.levels.front();
    const std::string how = any.devices > 1
                                ? any.variant
                                : fmt::format("{}, {}", name(any.known), processors_text(roofs.device, roofs.threads));
    return fitted_items(fmt::format("  roofs ({}):", how), items, width);
}

/// Adds the functions of a device's programs that took the most time.
void add_functions(Figure& figure, const std::vector<CountedKernel>& kernels, const std::string& device)
{
    constexpr std::size_t most = 10;
    std::size_t drawn = 0;
    for (const CountedKernel& kernel : kernels) {
        if (!kernel.is_function() || kernel.device != device || kernel.levels.empty() || drawn == most) continue;
        const double x = kernel.levels.back().intensity_low.value, y = kernel.rate().value;
        if (!(y > 0)) continue;
        figure.marks.push_back({.key = kernel.name, .x = {x, x, x}, .y = {y, y, y}, .title = explain(kernel)});
        ++drawn;
    }
}

/// The threads of the roofs over all that is drawn on a device.
std::set<int> threads_over(const std::vector<CountedKernel>& kernels, const std::vector<const Placement*>& steps,
                           const std::string& device)
{
    std::set<int> threads;
    for (const CountedKernel& kernel : kernels)
        if (kernel.is_function() && kernel.device == device) threads.insert(kernel.roof_threads);
    for (const Placement* step : steps) threads.insert(step->roof_threads);
    threads.erase(0);
    return threads;
}

}  // namespace

std::string terminal_roofline(const Study& study, int width, bool plain)
{
    if (study.ceilings.all.empty()) return {};
    const std::optional<Frame> frame = frame_of(study.ceilings);
    if (!frame) return fitted_lines("A roofline needs a bandwidth and a compute ceiling; one is missing.", width);
    std::string text;
    const int wide = std::max(narrowest, width);
    const int columns = wide - margin;
    const std::string whole = "arithmetic intensity at the least bytes of the farthest level (FLOP/B)";
    const std::string name_of_x = static_cast<int>(whole.size()) <= columns ? whole : "intensity (FLOP/B)";
    const std::vector<const Measurement*> trained = measured_steps(study.results.rows);
    std::map<std::string, std::string> names;
    for (const Measurement* row : trained) names[row->id()] = step_name(*row, trained);
    const std::vector<CountedKernel> kernels = counted_kernels(study);
    for (const std::string& device : devices_of(study.ceilings)) {
        std::vector<const Placement*> steps;
        for (const Placement& p : study.placements)
            if (p.scope == Scope::step && p.device == device) steps.push_back(&p);
        const std::set<int> threads = threads_over(kernels, steps, device);
        constexpr int most = -1;
        const Roofs roofs = roofs_of(study.ceilings, device, threads.size() == 1 ? *threads.begin() : most);
        Figure figure = roofs_figure(device, roofs, *frame);
        add_placements(figure, steps);
        for (Mark& mark : figure.marks) mark.title = explain(*mark.of, names.at(mark.of->row));
        add_functions(figure, kernels, device);
        CanvasPlot plot{figure, {columns, std::clamp(columns / 3, 14, 34), plain}};
        draw_roofs(plot);
        name_roofs(plot, roofs);
        const std::string legend = draw_marks(plot);
        text += printable(device) + "\n" + with_axes(plot, name_of_x, plain) + roofs_legend(roofs, wide, plain) +
                fitted_lines(legend, wide);
        if (threads.size() > 1)
            text += fitted_lines(
                "  Points with other threads were placed under the roofs of those, which are not drawn.\n", wide);
    }
    return text;
}

std::string terminal_batches(const Study& study, int width, bool plain)
{
    constexpr int widest = 78, rows = 12;
    const std::vector<Figure> figures = trajectory_figures({&study, 1});
    const auto has_batches = [](const Curve& curve) { return curve.marks.size() > 1; };
    if (figures.empty() || std::ranges::none_of(figures.front().curves, has_batches)) return {};
    const Figure& figure = figures.front();
    const int wide = std::max(narrowest, width);
    CanvasPlot plot{figure, {std::min(wide, widest) - margin, rows, plain}};
    draw_curves(plot);
    std::vector<std::string> series;
    for (const LegendEntry& entry : figure.legend)
        series.push_back(
            fmt::format("{} {}", letters[std::min(series.size(), letters.size() - 1)], printable(entry.text)));
    return fitted_lines(fmt::format("{} ({}) over the batch", figure.y.label, time_known(study.results.rows)), wide) +
           with_axes(plot, "batch", plain) + fitted_items("", series, wide);
}

}  // namespace roof::analysis
