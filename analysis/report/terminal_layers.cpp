// The time of a step for a terminal: kinds of layer by phase, with bars.
#include "analysis/report/terminal.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace roof::analysis {

namespace {

constexpr int bar_columns = 20;
constexpr std::array<Phase, 3> phases{Phase::forward, Phase::backward, Phase::update};

/// Seconds of a kind of layer in each phase.
struct Kind {
    std::string name;
    std::array<double, phases.size()> seconds{};
    bool has_phases = true;

    double total() const { return seconds[0] + seconds[1] + seconds[2]; }
};

/// Most seconds first; time outside the layers last.
std::vector<Kind> kinds_of(const Study& study, const Measurement& row)
{
    std::map<std::string, Kind> kinds;
    double rest = row.seconds.median.value;
    const std::string id = row.id();
    for (const Placement& p : study.placements) {
        if (p.scope != Scope::layer || p.row != id || !p.phase) continue;
        const auto phase = static_cast<std::size_t>(std::ranges::find(phases, *p.phase) - phases.begin());
        Kind& kind = kinds[p.kind];
        kind.name = p.kind;
        kind.seconds.at(phase) += p.seconds.median.value;
        rest -= p.seconds.median.value;
    }
    std::vector<Kind> list;
    for (auto& [name, kind] : kinds) list.push_back(kind);
    std::ranges::stable_sort(list, [](const Kind& a, const Kind& b) { return a.total() > b.total(); });
    if (!list.empty() && rest > 0) list.push_back({"outside the layers", {rest, 0, 0}, false});
    return list;
}

std::string bar(double share, bool plain)
{
    const auto length = static_cast<int>(std::lround(bar_columns * std::clamp(share, 0.0, 1.0)));
    std::string text;
    for (int i = 0; i < length; ++i) text += plain ? "#" : "█";
    return text;
}

DataTable table_of_kinds(const std::vector<Kind>& kinds, double step, bool plain_text)
{
    DataTable table{.columns = {{"layers"}, {"forward"}, {"backward"}, {"update"}, {"of step"}, {" "}},
                    .expendable = {"update", "forward", "backward"}};
    for (const Kind& kind : kinds) {
        std::vector<Cell> cells{word(kind.name)};
        for (const double time : kind.seconds)
            cells.push_back(only_if(kind.has_phases && time > 0, seconds(Seconds{time})));
        cells.push_back(share(kind.total() / step));
        cells.push_back(word(bar(kind.total() / step, plain_text)));
        table.rows.push_back({std::move(cells)});
    }
    return table;
}

}  // namespace

std::string terminal_layers(const Study& study, int width, bool plain)
{
    std::string text;
    for (const Measurement* row : largest_batches(study.results.rows)) {
        const double step = row->seconds.median.value;
        DataTable table = table_of_kinds(kinds_of(study, *row), step, plain);
        if (table.empty()) continue;
        table.title = fmt::format("{}, batch {} on {}: where its {} go (measured)", printable(model_of(*row)),
                                  batch_of(*row), printable(row->device), format_duration(step));
        text += (text.empty() ? "" : "\n") + to_text(table, std::max(40, width));
    }
    return text;
}

}  // namespace roof::analysis
