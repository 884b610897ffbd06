// Training on several ranks beside one.
#include "analysis/report/panels.hpp"
#include "analysis/study/scaling.hpp"
#include "analysis/table/html.hpp"

namespace roof::analysis {

std::string scaling_panel(const Study& study, const std::string&)
{
    std::vector<std::vector<Cell>> rows;
    for (const std::vector<std::string>& cells : scaling_cells(study)) {
        std::vector<Cell> row;
        for (std::size_t column = 0; column < cells.size(); ++column)
            row.push_back(column > 0 ? Cell::value(cells[column]) : Cell::text(cells[column]));
        rows.push_back(std::move(row));
    }
    return rows.empty() ? "" : html_table(scaling_header(), rows);
}

}  // namespace roof::analysis
