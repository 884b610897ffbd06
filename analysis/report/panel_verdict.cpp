// The verdict strip: one line per model and batch.
#include "analysis/study/verdict.hpp"

#include "analysis/report/panels.hpp"
#include "analysis/study/summary.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {

namespace {

/// A bar of the shares of the step's time, with the numbers in its title.
Cell shares_cell(const TimeShares& shares)
{
    if (shares.compute + shares.bandwidth + shares.unexplained == 0) return Cell::text("-");
    const std::string title = fmt::format(
        "compute-bound {}, bandwidth-bound {}, far below any roof {}, outside the layers {}", percent(shares.compute),
        percent(shares.bandwidth), percent(shares.unexplained), percent(shares.rest));
    const double sum = std::max(1.0, shares.compute + shares.bandwidth + shares.unexplained + shares.rest);
    std::string html = fmt::format("<span class=\"bar\" role=\"img\" title=\"{0}\" aria-label=\"{0}\">", title);
    for (const auto& [share, css_class] : {std::pair{shares.compute, "compute"},
                                           {shares.bandwidth, "bandwidth"},
                                           {shares.unexplained, "far"},
                                           {shares.rest, "rest"}})
        html += fmt::format("<i class=\"{}\" style=\"width:{:.1f}%\"></i>", css_class, 100 * share / sum);
    return {html + "</span>", false, 1};
}

std::vector<Cell> cells_of(const Study& study, const Measurement& row)
{
    std::vector<Cell> cells{Cell::text(model_of(row)), Cell::value(batch_text(row)), Cell::text(precision_of(row)),
                            Cell::text(row.device), Cell::text(data_of(row))};
    const Placement* step = step_placement(study.placements, row);
    if (!step) {
        const std::string why = std::string(name(row.status)) + (row.reason.empty() ? "" : ": " + row.reason);
        cells.push_back({"<span class=\"warn\">" + escape(why) + "</span>", false, 7});
        return cells;
    }
    const double images = row.images_per_second();
    cells.push_back(Cell::value(with_interval(step->seconds, "s")));
    cells.push_back(Cell::value(images > 0 ? plain_number(images) : "-"));
    cells.push_back(Cell::value(step->flops.value > 0 ? format_si(step->rate.median.value, "FLOP/s") : "-"));
    cells.push_back(Cell::value(step->compute_roof.value > 0 ? percent(step->rate.median / step->compute_roof) : "-"));
    cells.push_back(Cell::text(step->binds.empty() ? "-" : bottleneck_text(*step)));
    cells.push_back(shares_cell(time_shares(study.placements, row)));
    cells.push_back(Cell::value(step->binds.empty() ? "-" : format_duration(step->headroom.value)));
    return cells;
}

}  // namespace

std::string verdict_panel(const Study& study, const std::string&)
{
    const std::vector<const Measurement*> rows = step_rows(study.results.rows);
    if (rows.empty()) return paragraph("No training steps in this folder.");
    std::vector<std::vector<Cell>> cells;
    for (const Measurement* row : rows) cells.push_back(cells_of(study, *row));
    const std::string above = above_text(study);
    return text_list("", summary(study)) + (above.empty() ? above : paragraph(above, "warning")) +
           html_table({"model", "batch", "precision", "device", "data", "step time", "images/s", "model rate",
                       "of compute roof", "bound by", "time bound by", "headroom"},
                      cells) +
           "<p class=\"legend\"><i class=\"compute\"></i>compute roof <i class=\"bandwidth\"></i>bandwidth roof "
           "<i class=\"far\"></i>far below any roof (under half of what it allows) <i class=\"rest\"></i>outside the "
           "layers</p>\n";
}

}  // namespace roof::analysis
