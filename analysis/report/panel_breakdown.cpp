// The time of a step by kind of layer, with bars: a table for the page and the terminal.
#include "analysis/report/report.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace roof::analysis {
namespace {

/// As long as its share of the step; on the page with a colour for each phase.
Cell bar(const Segment& kind, double step, bool plain)
{
    constexpr double columns = 20;
    Cell cell = word("");
    const double share = std::clamp(kind.seconds / step, 0.0, 1.0);
    for (int i = 0; i < static_cast<int>(std::lround(columns * share)); ++i) cell.text += plain ? "#" : "█";
    cell.html = "<span class=\"bar\">";
    for (const auto& [css, seconds] :
         {std::pair{"forward", kind.forward},
          {"backward", kind.backward},
          {kind.name == "update" ? "update" : "rest", kind.seconds - kind.forward - kind.backward}})
        cell.html +=
            fmt::format("<i class=\"{}\" style=\"width:{:.1f}%\"></i>", css, 100 * std::max(0.0, seconds) / step);
    cell.html += "</span>";
    return cell;
}

/// The kinds by their time, what is outside the layers last. Empty without layers.
DataTable table_of_kinds(const Study& study, const Measurement& row, bool plain)
{
    using K = const Segment&;
    const double step = row.seconds.median.value;
    std::vector<Segment> kinds = kinds_of(row);
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
                           {"share", "", [&](K k) { return bar(k, step, plain); }}},
                          kinds);
    table.expendable = {"forward", "backward"};
    table.title = fmt::format("{}: where its {} go ({})", printable(step_title(row, study.results.rows)),
                              format_duration(step), name(row.time_known));
    double sum = 0;
    for (K kind : kinds) sum += kind.seconds;
    constexpr double rounding = 1e-9;
    if (sum > (1 + rounding) * step)
        table.title += fmt::format("; its layers, timed apart, took {} longer", format_duration(sum - step));
    return table;
}

}  // namespace

Content breakdown_panel(const Study& study, const std::string&)
{
    std::string html;
    for (const Measurement* row : largest_batches(study.results.rows))
        if (const DataTable table = table_of_kinds(study, *row, false); !table.empty())
            html += subheading(table.title) + html_table(table);
    return {html};
}

std::string terminal_layers(const Study& study, int width, bool plain)
{
    std::string text;
    for (const Measurement* row : largest_batches(study.results.rows))
        if (const DataTable table = table_of_kinds(study, *row, plain); !table.empty())
            text += (text.empty() ? "" : "\n") + to_text(table, std::max(40, width));
    return text;
}

}  // namespace roof::analysis
