// Steps for a terminal: a small chart of batch trajectories for each model, and the time of a step by kind of layer, with bars.
#include "analysis/report/canvas.hpp"
#include "analysis/report/report.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace roof::analysis {
namespace {

constexpr int rate_margin = 10;  ///< columns of the rate axis: "    123 |"
constexpr int rows = 8;
constexpr int narrowest_chart = 40;
constexpr int widest = 72;
constexpr double air = 1.15;  ///< between the marks and the frame, as a factor

using Rates = std::map<long long, double>;     ///< images per second by batch
using Series = std::map<std::string, Rates>;   ///< by what it ran on
using Models = std::map<std::string, Series>;  ///< by model

std::string series_name(const Measurement& row, std::span<const Measurement> among)
{
    const std::string data = data_of(row);
    return fmt::format("{} on {}{}", precision_of(row), where_text(row, among),
                       data == "-" || data == "synthetic" ? "" : ", " + data);
}

Models models_of(const Study& study)
{
    Models models;
    for (const Measurement* row : measured_steps(study.results.rows))
        if (batch_of(*row) > 0 && row->seconds.median.value > 0)
            models[printable(model_of(*row))][printable(series_name(*row, study.results.rows))].try_emplace(
                batch_of(*row), image_rate(*row).median);
    std::erase_if(models, [](const auto& model) {
        return std::ranges::none_of(model.second, [](const auto& series) { return series.second.size() > 1; });
    });
    return models;
}

/// Draws lines between batches, and a letter at each measured batch.
void draw(CanvasPlot& plot, const Rates& rates, char letter)
{
    for (auto to = std::next(rates.begin()); to != rates.end(); ++to) {
        const auto from = std::prev(to);
        const double begin = plot.across(static_cast<double>(from->first));
        const double end = plot.across(static_cast<double>(to->first));
        for (double x = begin; x <= end; ++x) {
            const double share = (x - begin) / std::max(1.0, end - begin);
            const double y = plot.down(from->second) + share * (plot.down(to->second) - plot.down(from->second));
            plot.canvas.dot(static_cast<int>(x), static_cast<int>(std::lround(y)), '.');
        }
    }
    for (const auto& [batch, rate] : rates)
        plot.canvas.write(plot.column(static_cast<double>(batch)), plot.row(rate), std::string(1, letter));
}

/// The batches below their columns. A batch that would touch the one before it is left out.
std::string batch_axis(const CanvasPlot& plot, const Series& all)
{
    Canvas line(plot.canvas.columns(), 1, true);
    for (const auto& [name, rates] : all)
        for (const auto& [batch, rate] : rates) {
            const std::string text = std::to_string(batch);
            const int length = static_cast<int>(text.size());
            const int at = std::min(plot.column(static_cast<double>(batch)), line.columns() - length);
            if (line.free(std::max(0, at - 1), 0, std::min(length + 2, line.columns() - std::max(0, at - 1))))
                line.write(at, 0, text);
        }
    return std::string(rate_margin, ' ') + line.lines().front() + "\n";
}

std::string chart(const Series& all, int columns, bool plain)
{
    Extent rate, batches;
    for (const auto& [name, rates] : all)
        for (const auto& [batch, value] : rates) {
            rate.add(value);
            batches.add(static_cast<double>(batch));
        }
    CanvasPlot plot(batches, {rate.low / air, rate.high * air}, columns, rows, plain);
    char letter = 'a';
    for (const auto& [name, rates] : all) draw(plot, rates, letter == 'z' ? letter : letter++);
    std::string text;
    const std::vector<std::string> lines = plot.canvas.lines();
    for (int row = 0; row < rows; ++row) {
        const bool marked = row == 0 || row == rows - 1;
        text += fmt::format("{:>{}} {}{}\n",
                            marked ? plain_number(row == 0 ? plot.down.frame.high : plot.down.frame.low) : "",
                            rate_margin - 2, plain ? "|" : "│", lines[static_cast<std::size_t>(row)]);
    }
    return text + batch_axis(plot, all);
}

constexpr int bar_columns = 20;
std::string bar(double share, bool plain)
{
    const auto length = static_cast<int>(std::lround(bar_columns * std::clamp(share, 0.0, 1.0)));
    std::string text;
    for (int i = 0; i < length; ++i) text += plain ? "#" : "█";
    return text;
}

/// The kinds by their time, what is outside the layers last.
DataTable table_of_kinds(std::vector<Segment> kinds, double step, bool plain_text)
{
    using K = const Segment&;
    std::ranges::stable_sort(kinds, [](K a, K b) {
        const bool a_last = a.name == outside_layers, b_last = b.name == outside_layers;
        return a_last != b_last ? b_last : a.seconds > b.seconds;
    });
    DataTable table =
        table_of<Segment>({{"layers", "", [](K k) { return word(k.name); }},
                           {"time", "", [](K k) { return seconds(Seconds{k.seconds}); }},
                           {"forward", "", [](K k) { return only_if(k.forward > 0, seconds(Seconds{k.forward})); }},
                           {"backward", "", [](K k) { return only_if(k.backward > 0, seconds(Seconds{k.backward})); }},
                           {"of step", "", [&](K k) { return share(k.seconds / step); }},
                           {" ", "", [&](K k) { return word(bar(k.seconds / step, plain_text)); }}},
                          kinds);
    table.expendable = {"forward", "backward"};
    return table;
}

}  // namespace

std::string terminal_batches(const Study& study, int width, bool plain)
{
    const int wide = std::max(narrowest_chart, width);
    std::string text;
    for (const auto& [model, series] : models_of(study)) {
        text += text.empty() ? "" : "\n";
        text += fitted_lines(fmt::format("{}: {}/s of the median step ({}) over the batch", model,
                                         batch_items(study.results.rows), time_known(study.results.rows)),
                             wide);
        text += chart(series, std::min(wide, widest) - rate_margin, plain);
        std::vector<std::string> names;
        for (const auto& [name, rates] : series)
            names.push_back(
                fmt::format("{} {}", static_cast<char>('a' + std::min<std::size_t>(25, names.size())), name));
        text += fitted_items("", names, wide);
    }
    return text;
}

std::string terminal_layers(const Study& study, int width, bool plain)
{
    std::string text;
    for (const Measurement* row : largest_batches(study.results.rows)) {
        const double step = row->seconds.median.value;
        DataTable table = table_of_kinds(kinds_of(*row), step, plain);
        if (table.empty()) continue;
        table.title = fmt::format("{}: where its {} go ({})", printable(step_title(*row, study.results.rows)),
                                  format_duration(step), name(row->time_known));
        double sum = 0;
        for (const Segment& kind : kinds_of(*row)) sum += kind.seconds;
        constexpr double rounding = 1e-9;
        if (sum > (1 + rounding) * step)
            table.title += fmt::format("; its layers, timed apart, took {} longer", format_duration(sum - step));
        text += (text.empty() ? "" : "\n") + to_text(table, std::max(40, width));
    }
    return text;
}

}  // namespace roof::analysis
