// Ceilings beside guides and data sheets, and measured memory levels beside the reported ones.
#include "analysis/report/panels.hpp"
#include "analysis/roofline/spec_check.hpp"
#include "analysis/study/beside_sheet.hpp"
#include "analysis/study/ceiling_tables.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/html.hpp"

namespace roof::analysis {

std::string ceilings_panel(const Study& study, const std::string&)
{
    if (study.ceilings.all.empty()) return {};
    const Machine& machine = study.calibration.machine;
    std::string html;
    for (const std::string& sentence : impossible_ceilings(study.ceilings, machine))
        html += paragraph(sentence, "warning");
    if (const std::string moved = moved_processors(study.ceilings); !moved.empty()) html += paragraph(moved, "warning");
    for (const DataTable& table : ceiling_tables(study.ceilings, machine))
        html += subheading(table.title) + html_table(table);
    html += paragraph(spec_footnote(study.ceilings, machine), "legend");
    if (const DataTable sheets = sheet_table(study); !sheets.empty())
        html += subheading(sheets.title) + html_table(sheets) + paragraph(sheet_footnote(study), "legend");
    return html;
}

}  // namespace roof::analysis
