// Reports about fleets: those of `roof fleet history` and `roof fleet compare`, and the sinks of all.
#include "analysis/fleet/fleet_tables.hpp"
#include "analysis/report/report.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
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

std::string html_of(const DataTable& table)
{
    const std::string html = html_table(first_rows(table));
    return html.empty() ? "" : subheading(table.title) + html;
}

DataTable drifts_table(const HistorySeries& series)
{
    using R = const NodeDrift&;
    static const std::vector<ColumnOf<NodeDrift>> columns{
        {"node", "node", [](R r) { return word(printable(r.node)); }},
        {"ceiling", "ceiling", [](R r) { return word(printable(r.ceiling)); }},
        {"since the week of", "since", [](R r) { return word(r.since); }},
        {"after to before", "ratio", [](R r) { return number(r.ratio, fmt::format("{:.3f}", r.ratio)); }},
        {"weeks before", "weeks_before", [](R r) { return count(r.before); }},
        {"after", "weeks_after", [](R r) { return count(r.after); }},
        {"by chance", "chance", [](R r) { return number(r.chance, chance_text(r.chance)); }},
    };
    return table_of(columns, series.drifts, "Nodes that became slower than the fleet");
}

DataTable shifts_table(const HistorySeries& series)
{
    using R = const FleetShift&;
    static const std::vector<ColumnOf<FleetShift>> columns{
        {"ceiling", "ceiling", [](R r) { return word(printable(r.ceiling)); }},
        {"week of", "week", [](R r) { return word(r.week); }},
        {"to the week before", "ratio", [](R r) { return number(r.ratio, ratio_text(r.ratio, r.low, r.high)); }},
        {"", "low", [](R r) { return number(r.low); }},
        {"", "high", [](R r) { return number(r.high); }},
        {"nodes", "nodes", [](R r) { return count(r.nodes); }},
    };
    return table_of(columns, series.shifts, "Weeks in which the whole fleet changed");
}

DataTable changes_table(const FleetComparison& comparison)
{
    using R = const CeilingChange&;
    static const std::vector<ColumnOf<CeilingChange>> columns{
        {"ceiling", "ceiling", [](R r) { return word(printable(r.ceiling)); }},
        {"nodes in A", "nodes_a", [](R r) { return count(r.nodes_a); }},
        {"in B", "nodes_b", [](R r) { return count(r.nodes_b); }},
        {"in both", "common", [](R r) { return count(r.common); }},
        {"median of A", "median_a", [](R r) { return amount(r.median_a, printable(r.unit)); }},
        {"of B", "median_b", [](R r) { return amount(r.median_b, printable(r.unit)); }},
        {"B to A", "ratio", [](R r) { return number(r.ratio, ratio_text(r.ratio, r.low, r.high)); }},
        {"", "low", [](R r) { return number(r.low); }},
        {"", "high", [](R r) { return number(r.high); }},
        {"by chance", "chance", [](R r) { return only_if(r.chance < 1, number(r.chance, chance_text(r.chance))); }},
        {"finding", "finding", [](R r) { return word(name(r.change)); }},
    };
    return table_of(columns, comparison.ceilings, "Ceilings of both");
}

std::string list_of(const std::string& title, const std::vector<std::string>& nodes)
{
    constexpr std::size_t longest = 1000;
    return nodes.empty()
               ? ""
               : fmt::format("{} {}: {}", how_many(nodes.size(), "node"), title, shortened(join(nodes, ", "), longest));
}

}  // namespace

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

FleetReport report_of(const std::vector<HistorySeries>& history, const std::vector<RefusedFolder>& refused)
{
    FleetReport report;
    for (const HistorySeries& series : history) {
        const std::string title = printable(fmt::format("{}, plan {}, revision {}", series.kind,
                                                        series.plan.substr(0, 8), join(series.revisions, ", then ")));
        if (series.weeks.empty()) {
            report.sections.push_back({title, "Each rate is a lower bound: none can be compared.", {}});
            continue;
        }
        std::string lead =
            fmt::format("{} in {} from {} to {}; {} of nodes with {} weeks or more. ", how_many(series.nodes, "node"),
                        how_many(series.weeks.size(), "week"), series.weeks.front(), series.weeks.back(),
                        how_many(series.tests, "ceiling"), fewest_weeks);
        lead += series.tests == 0       ? "Nothing can be told yet."
                : series.drifts.empty() ? "None drifted."
                                        : fmt::format("{} drifted.", series.drifts.size());
        if (series.visible > 0)
            lead += fmt::format(" A drop by {} in the middle of these weeks would be found in 95% of cases.",
                                percent(series.visible));
        else if (series.tests > 0)
            lead += " So few weeks of such scatter would show no drop of a single node for certain.";
        report.sections.push_back({title, lead, {drifts_table(series), shifts_table(series)}});
    }
    if (!refused.empty()) report.sections.push_back({"Not judged", "", {refused_table(refused)}});
    report.notes.push_back(
        "A week of fewer than 6 nodes is left out. A revision begins a new series unless ten nodes ran it and the one "
        "before in one week.");
    return report;
}

FleetReport report_of(const FleetChanges& changes)
{
    FleetReport report;
    for (const FleetComparison& kind : changes.kinds)
        report.sections.push_back(
            {printable(fmt::format("{}, plan {}: A by revision {}, B by revision {}", kind.kind, kind.plan.substr(0, 8),
                                   kind.revision_a, kind.revision_b)),
             kind.revision_a == kind.revision_b ? "" : "The revisions differ, so a difference may be one of roof.",
             {changes_table(kind)}});
    FleetReport nodes = report_of(changes.nodes);
    for (FleetSection& section : nodes.sections) {
        section.title = "Nodes in both, B to A: " + section.title;
        report.sections.push_back(std::move(section));
    }
    if (changes.kinds.empty())
        report.notes.emplace_back("A and B have no kind and plan in common: nothing can be compared.");
    for (const std::string& text : {list_of("only in A", changes.only_a), list_of("only in B", changes.only_b)})
        if (!text.empty()) report.notes.push_back(text);
    return report;
}

}  // namespace roof::analysis
