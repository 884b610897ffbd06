// The sinks of a report about fleets.
#include "analysis/fleet/fleet_tables.hpp"
#include "analysis/report/style.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/html.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace roof::analysis {
namespace {

constexpr std::size_t most_rows = 1000;

DataTable first_rows(DataTable table)
{
    if (table.rows.size() <= most_rows) return table;
    table.note = fmt::format("The first {} of {} rows; --json has all.", most_rows, table.rows.size());
    table.rows.resize(most_rows);
    return table;
}

std::string html_of(DataTable table)
{
    const std::string html = html_table(first_rows(table));
    return html.empty() ? "" : subheading(table.title) + html;
}

}  // namespace

std::string counted(std::size_t number, std::string_view thing)
{
    return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::string chance_text(double chance)
{
    return chance < 1e-9 ? "< 1e-9" : fmt::format("{:.1g}", chance);
}

DataTable refused_table(const std::vector<RefusedFolder>& refused)
{
    using R = const RefusedFolder&;
    static const std::vector<ColumnOf<RefusedFolder>> columns{
        {"folder", "folder", [](R r) { return word(printable(r.folder)); }},
        {"reason", "reason", [](R r) { return word(shortened(printable(r.reason), 300)); }},
    };
    return table_of(columns, refused, "Folders that cannot be used");
}

std::string fleet_text(const FleetReport& report, int columns)
{
    constexpr std::size_t longest_lead = 2000;
    std::string text;
    for (const FleetSection& section : report.sections) {
        text += fitted_lines(
                    section.title + "\n" + (section.lead.empty() ? "" : shortened(section.lead, longest_lead) + "\n"),
                    columns) +
                "\n";
        for (const DataTable& table : section.tables)
            if (!table.empty()) text += to_text(first_rows(table), columns) + "\n";
    }
    for (const std::string& note : report.notes) text += fitted_lines(note + "\n", columns);
    return text;
}

nlohmann::json fleet_json(const FleetReport& report)
{
    nlohmann::json sections = nlohmann::json::array();
    for (const FleetSection& section : report.sections) {
        nlohmann::json tables = nlohmann::json::array();
        for (const DataTable& table : section.tables)
            tables.push_back({{"title", table.title}, {"rows", to_json(table)}});
        sections.push_back(
            {{"title", json_text(section.title)}, {"lead", json_text(section.lead)}, {"tables", tables}});
    }
    return {{"sections", sections}, {"notes", report.notes}};
}

std::string fleet_page(const FleetReport& report)
{
    std::string body;
    for (const FleetSection& section : report.sections) {
        body += "<section><h2>" + escape(section.title) + "</h2>\n" + paragraph(section.lead, "lead");
        for (const DataTable& table : section.tables) body += html_of(table);
        body += "</section>\n";
    }
    for (const std::string& note : report.notes) body += paragraph(note);
    return html_document("fleet", "<header><h1>Fleet</h1></header>\n", body);
}

}  // namespace roof::analysis
