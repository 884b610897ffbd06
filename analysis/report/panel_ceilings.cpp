// The ceilings beside what guides and data sheets spec, and the memory levels as measured beside those reported.
#include "analysis/report/panels.hpp"
#include "analysis/roofline/spec_check.hpp"
#include "analysis/study/beside_sheet.hpp"
#include "analysis/study/ceiling_tables.hpp"
#include "analysis/table/html.hpp"

namespace roof::analysis {

namespace {

Cell cell_of(const std::string& text, bool number)
{
    if (warns(text)) return {"<span class=\"warn\">" + escape(text) + "</span>", false, 1};
    return number ? Cell::value(text) : Cell::text(text);
}

std::string html_of(const TextTable& table)
{
    std::vector<std::string> header;
    for (const TextTable::Column& column : table.columns) header.push_back(column.name);
    std::vector<std::vector<Cell>> rows;
    for (const std::vector<std::string>& row : table.rows) {
        rows.emplace_back();
        for (std::size_t i = 0; i < row.size(); ++i) rows.back().push_back(cell_of(row[i], table.columns[i].number));
    }
    return "<h4>" + escape(table.title) + "</h4>\n" + html_table(header, rows);
}

}  // namespace

std::string ceilings_panel(const Study& study, const std::string&)
{
    if (study.ceilings.all.empty()) return {};
    const Machine& machine = study.calibration.machine;
    std::string html;
    for (const std::string& sentence : impossible_ceilings(study.ceilings, machine))
        html += paragraph(sentence, "warning");
    if (const std::string moved = moved_processors(study.ceilings); !moved.empty()) html += paragraph(moved, "warning");
    for (const TextTable& table : ceiling_tables(study.ceilings, machine)) html += html_of(table);
    html += paragraph(spec_footnote(study.ceilings, machine), "legend");
    if (const TextTable sheets = sheet_table(study); !sheets.rows.empty())
        html += html_of(sheets) + paragraph(sheet_footnote(study), "legend");
    return html;
}

}  // namespace roof::analysis
