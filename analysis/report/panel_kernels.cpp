// What kernels a step's time goes to, by category; what no rule knows comes first.
#include "analysis/report/panels.hpp"
#include "analysis/study/recording_tables.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/rows.hpp"

namespace roof::analysis {

std::string kernels_panel(const Study& study, const std::string&)
{
    if (step_rows(study.results.rows).empty()) return {};
    const RecordedTable table = kernel_table(study);
    if (table.empty())
        return paragraph(
            "No kernels were recorded with this run: it holds no kernels.csv. Training steps on the CPU launch none, "
            "and their layers are in the breakdown above.");
    return html_of(table);
}

}  // namespace roof::analysis
