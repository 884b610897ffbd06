// The layers with the most headroom.
#include "analysis/report/panels.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/rows.hpp"

namespace roof::analysis {

std::string headroom_panel(const Study& study, const std::string&)
{
    constexpr int layers_shown = 10;
    std::string html;
    for (const Measurement* row : largest_batches(study.results.rows))
        if (const DataTable table = headroom_table(study, *row, layers_shown); !table.empty())
            html += subheading(table.title) + html_table(table);
    return html;
}

}  // namespace roof::analysis
