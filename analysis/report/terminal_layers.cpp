// Where a step's time goes, for a terminal: kinds of layer by phase, with a bar for each.
#include "analysis/report/terminal.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

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

    double total() const { return seconds[0] + seconds[1] + seconds[2]; }
};

/// Most seconds first; time that no layer accounts for stands last, under its own name.
std::vector<Kind> kinds_of(const Study& study, const Measurement& row)
{
    std::map<std::string, Kind> kinds;
    double rest = row.seconds.median.value;
    const std::string id = row.id();
    for (const Placement& p : study.placements) {
        if (p.scope != Scope::layer || p.row != id || !p.phase) continue;
        const auto phase = static_cast<std::size_t>(std::ranges::find(phases, *p.phase) - phases.begin());
        Kind& kind = kinds[p.kind];
        kind.name = printable(p.kind);
        kind.seconds.at(phase) += p.seconds.median.value;
        rest -= p.seconds.median.value;
    }
    std::vector<Kind> list;
    for (auto& [name, kind] : kinds) list.push_back(kind);
    std::ranges::stable_sort(list, [](const Kind& a, const Kind& b) { return a.total() > b.total(); });
    if (!list.empty() && rest > 0) list.push_back({"outside the layers", {rest, 0, 0}});
    return list;
}

std::string bar(double share, bool plain)
{
    const auto length = static_cast<int>(std::lround(bar_columns * std::clamp(share, 0.0, 1.0)));
    std::string text;
    for (int i = 0; i < length; ++i) text += plain ? "#" : "█";
    return text;
}

std::vector<std::string> cells_of(const Kind& kind, double step, bool plain)
{
    std::vector<std::string> cells{kind.name};
    const bool has_phases = kind.name != "outside the layers";
    for (const double seconds : kind.seconds)
        cells.push_back(has_phases && seconds > 0 ? format_duration(seconds) : "-");
    cells.push_back(percent(kind.total() / step));
    cells.push_back(bar(kind.total() / step, plain));
    return cells;
}

}  // namespace

std::string terminal_layers(const Study& study, int width, bool plain)
{
    std::string text;
    for (const Measurement* row : largest_batches(study.results.rows)) {
        const double step = row->seconds.median.value;
        std::vector<std::vector<std::string>> cells;
        for (const Kind& kind : kinds_of(study, *row)) cells.push_back(cells_of(kind, step, plain));
        if (cells.empty()) continue;
        text += text.empty() ? "" : "\n";
        text += fitted_lines(printable(model_of(*row)) + ", batch " + std::to_string(batch_of(*row)) + " on " +
                                 printable(row->device) + ": what its " + format_duration(step) +
                                 " are spent on (measured)",
                             std::max(40, width)) +
                fitted_table({"layers", "forward", "backward", "update", "of step", ""}, cells,
                             {"update", "forward", "backward"}, std::max(40, width));
    }
    return text;
}

}  // namespace roof::analysis
