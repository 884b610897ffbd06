// The time of a step for a terminal: kinds of layer by phase, with bars.
#include "analysis/report/terminal.hpp"
#include "analysis/study/breakdown.hpp"
#include "analysis/table/fitted_text.hpp"
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

std::string terminal_layers(const Study& study, int width, bool plain)
{
    std::string text;
    for (const Measurement* row : largest_batches(study.results.rows)) {
        const double step = row->seconds.median.value;
        DataTable table = table_of_kinds(kinds_of(*row), step, plain);
        if (table.empty()) continue;
        table.title = fmt::format("{}: where its {} go ({})", printable(step_title(*row, study.results.rows)),
                                  format_duration(step), timed(row->description));
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
