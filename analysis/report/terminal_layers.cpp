// The time of a step for a terminal: kinds of layer by phase, with bars.
#include "analysis/report/terminal.hpp"
#include "analysis/study/breakdown.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace roof::analysis {

namespace {

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
    struct Row {
        Segment kind;
        double share;
        bool plain_text;
    };
    static const std::vector<ColumnOf<Row>> columns{
        {"layers", "", [](const Row& r) { return word(r.kind.name); }},
        {"time", "",
         [](const Row& r) {
             const double time = r.kind.seconds;
             return number(time, (time < 0 ? "-" : "") + format_duration(std::abs(time)));
         }},
        {"forward", "", [](const Row& r) { return only_if(r.kind.forward > 0, seconds(Seconds{r.kind.forward})); }},
        {"backward", "", [](const Row& r) { return only_if(r.kind.backward > 0, seconds(Seconds{r.kind.backward})); }},
        {"of step", "", [](const Row& r) { return share(r.share); }},
        {" ", "", [](const Row& r) { return word(bar(r.share, r.plain_text)); }},
    };
    std::ranges::stable_sort(kinds, [](const Segment& a, const Segment& b) {
        const bool a_last = a.name == outside_layers, b_last = b.name == outside_layers;
        return a_last != b_last ? b_last : a.seconds > b.seconds;
    });
    std::vector<Row> rows;
    for (Segment& kind : kinds) rows.push_back({kind, kind.seconds / step, plain_text});
    DataTable table = table_of(columns, rows);
    table.expendable = {"forward", "backward"};
    return table;
}

}  // namespace

std::string terminal_layers(const Study& study, int width, bool plain)
{
    std::string text;
    for (const Measurement* row : largest_batches(study.results.rows)) {
        const double step = row->seconds.median.value;
        DataTable table = table_of_kinds(kinds_of(*row), step, plain);
        if (table.empty()) continue;
        table.title = fmt::format("{}, batch {} on {}: where its {} go ({})", printable(model_of(*row)), batch_of(*row),
                                  printable(row->device), format_duration(step), timed(row->description));
        text += (text.empty() ? "" : "\n") + to_text(table, std::max(40, width));
    }
    return text;
}

}  // namespace roof::analysis
