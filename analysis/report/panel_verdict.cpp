// The verdict: a summary, and a row for each model and batch.
#include "analysis/report/panels.hpp"
#include "analysis/study/summary.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/study/verdict.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/rows.hpp"

namespace roof::analysis {

std::string verdict_panel(const Study& study, const std::string&)
{
    if (step_rows(study.results.rows).empty()) return paragraph("No training steps in this folder.");
    const std::string above = above_text(study);
    return text_list("", summary(study)) + (above.empty() ? above : paragraph(above, "warning")) +
           html_table(verdict_table(study)) +
           "<p class=\"legend\"><i class=\"compute\"></i>compute roof <i class=\"bandwidth\"></i>bandwidth roof "
           "<i class=\"unexplained\"></i>unexplained (below half of what its roof allows) <i "
           "class=\"rest\"></i>outside the "
           "layers</p>\n";
}

}  // namespace roof::analysis
