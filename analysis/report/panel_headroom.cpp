// The layers with the most time to win.
#include "analysis/report/panels.hpp"
#include "analysis/roofline/describe.hpp"
#include "analysis/study/verdict.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

namespace roof::analysis {

namespace {

constexpr int layers_shown = 10;

std::vector<Cell> cells_of(const Placement& p, const Measurement& row)
{
    const LevelPlacement& far = p.levels.back();
    return {Cell::text(p.name),
            Cell::text(p.kind),
            Cell::text(roof::name(*p.phase)),
            Cell::value(with_interval(p.seconds, "s")),
            Cell::value(percent(p.seconds.median / row.seconds.median)),
            Cell::value(p.flops.value > 0 ? format_si(p.rate.median.value, "FLOP/s") : "no FLOPs"),
            Cell::value(intensity_text(far.intensity_low, far.intensity_high)),
            Cell::text(bottleneck_text(p)),
            Cell::value(percent(p.fraction)),
            Cell::value(format_duration(p.headroom.value)),
            Cell::text(p.implementation)};
}

}  // namespace

std::string headroom_panel(const Study& study, const std::string&)
{
    std::string html;
    for (const Measurement* row : largest_batches(study.results.rows)) {
        std::vector<std::vector<Cell>> cells;
        const std::vector<const Placement*> layers = most_headroom(study.placements, *row, layers_shown);
        for (const Placement* p : layers)
            if (!p->levels.empty()) cells.push_back(cells_of(*p, *row));
        if (cells.empty()) continue;
        html += "<h4>" + escape(title_of(*layers.front())) + "</h4>\n" +
                html_table({"layer", "kind", "phase", "time", "of step", "rate", "intensity (FLOP/B)", "roof",
                            "reached", "headroom", "implementation"},
                           cells);
    }
    return html;
}

}  // namespace roof::analysis
