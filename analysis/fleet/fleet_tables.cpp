#include "analysis/fleet/fleet_tables.hpp"

#include "analysis/report/style.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace roof::analysis {
namespace {

constexpr std::size_t most_rows = 1000;

struct NodeRow {
    const NodeFinding* node;
    const NodeCeiling* ceiling;
};

std::string ratio_text(const NodeCeiling& c)
{
    if (c.finding == Finding::missing) return "-";
    return std::isfinite(c.high) ? fmt::format("{:.3f} [{:.3f}, {:.3f}]", c.ratio, c.low, c.high)
                                 : fmt::format("at least {:.3f}", c.low);
}

std::string chance_text(double chance)
{
    return chance < 1e-9 ? "< 1e-9" : fmt::format("{:.1g}", chance);
}

std::string day_text(const NodeRow& row)
{
    if (row.ceiling->finding != Finding::slow) return "";
    return row.ceiling->on_another_day ? "slow on two days" : "measure again on another day";
}

DataTable nodes_table(const FleetGroup& group)
{
    using R = const NodeRow&;
    static const std::vector<ColumnOf<NodeRow>> columns{
        {"node", "node", [](R r) { return word(printable(r.node->node)); }},
        {"finding", "finding", [](R r) { return word(name(r.ceiling->finding)); }},
        {"ceiling", "ceiling", [](R r) { return word(printable(r.ceiling->ceiling)); }},
        {"to the others' median", "ratio",
         [](R r) {
             return only_if(r.ceiling->finding != Finding::missing, number(r.ceiling->ratio, ratio_text(*r.ceiling)));
         }},
        {"", "low", [](R r) { return number(r.ceiling->low); }},
        {"", "high", [](R r) { return number(r.ceiling->high); }},
        {"by chance", "chance",
         [](R r) { return only_if(r.ceiling->chance < 1, number(r.ceiling->chance, chance_text(r.ceiling->chance))); }},
        {"", "on_another_day", [](R r) { return truth(r.ceiling->on_another_day); }},
        {"remark", "remark", [](R r) { return word(r.ceiling->reason.empty() ? day_text(r) : r.ceiling->reason); }},
    };
    std::vector<NodeRow> rows;
    for (const NodeFinding& node : group.nodes)
        for (const NodeCeiling& ceiling : node.ceilings) rows.push_back({&node, &ceiling});
    std::ranges::stable_sort(rows, {}, [](const NodeRow& row) {
        return std::pair(row.ceiling->finding != Finding::slow, row.ceiling->ratio);
    });
    DataTable table = table_of(columns, rows);
    table.title = "Ceilings of nodes that are not like the others'";
    return table;
}

std::string populations_text(const CeilingFinding& c)
{
    if (c.populations.empty()) return "";
    const Population& lower = c.populations.front();
    const Population& upper = c.populations.back();
    return fmt::format("two populations: {} nodes at {}, {} at {}", lower.nodes.size(), format_si(lower.median, c.unit),
                       upper.nodes.size(), format_si(upper.median, c.unit));
}

DataTable ceilings_table(const FleetGroup& group)
{
    using R = const CeilingFinding&;
    static const std::vector<ColumnOf<CeilingFinding>> columns{
        {"ceiling", "ceiling", [](R r) { return word(printable(r.name)); }},
        {"nodes", "nodes", [](R r) { return count(r.nodes); }},
        {"median", "median", [](R r) { return amount(r.median, printable(r.unit)); }},
        {"scatter", "scatter", [](R r) { return number(r.scatter, percent(r.scatter)); }},
        {"slow", "slow", [](R r) { return count(r.slow); }},
        {"undecided", "undecided", [](R r) { return count(r.undecided); }},
        {"", "populations", [](R r) { return word(populations_text(r)); }, Shown::everywhere},
    };
    DataTable table = table_of(columns, group.ceilings);
    table.columns.back().title = "remark";
    drop_empty_columns(table);
    table.title = "Ceilings of the group; scatter: between nodes, beyond their intervals";
    return table;
}

DataTable associations_table(const FleetGroup& group)
{
    using R = const Association&;
    static const std::vector<ColumnOf<Association>> columns{
        {"fact", "fact", [](R r) { return word(printable(r.fact)); }},
        {"value", "value", [](R r) { return word(printable(r.value)); }},
        {"nodes", "nodes", [](R r) { return count(r.nodes); }},
        {"ceiling", "ceiling", [](R r) { return word(printable(r.ceiling)); }},
        {"to the others' median", "ratio", [](R r) { return number(r.ratio, fmt::format("{:.3f}", r.ratio)); }},
        {"by chance", "chance", [](R r) { return number(r.chance, chance_text(r.chance)); }},
    };
    DataTable table = table_of(columns, group.associations);
    table.title = "What goes with a difference (corrected for all facts and ceilings; it need not be the cause)";
    return table;
}

DataTable refused_table(const FleetFindings& findings)
{
    using R = const RefusedFolder&;
    static const std::vector<ColumnOf<RefusedFolder>> columns{
        {"folder", "folder", [](R r) { return word(printable(r.folder)); }},
        {"reason", "reason", [](R r) { return word(shortened(printable(r.reason), 300)); }},
    };
    DataTable table = table_of(columns, findings.refused);
    table.title = "Folders that cannot be used";
    return table;
}

std::size_t nodes_with(const FleetGroup& group, Finding finding)
{
    return static_cast<std::size_t>(std::ranges::count(group.nodes, finding, &NodeFinding::finding));
}

std::string title_of(const FleetGroup& group)
{
    return printable(fmt::format("{}{}, plan {}, revision {}", group.kind, group.by.empty() ? "" : ", " + group.by,
                                 group.plan.substr(0, 8), group.revision));
}

std::string counts_of(const FleetGroup& group)
{
    std::string text = fmt::format("{} nodes: {} slow, {} implausible, {} undecided, {} not slow.", group.nodes.size(),
                                   nodes_with(group, Finding::slow), nodes_with(group, Finding::implausible),
                                   nodes_with(group, Finding::undecided), nodes_with(group, Finding::not_slow));
    std::vector<std::string> drained;
    for (const NodeFinding& node : group.nodes)
        if (node.drain) drained.push_back(printable(node.node));
    if (!drained.empty()) text += " To be drained: " + join(drained, ", ") + ".";
    if (group.nodes.size() < fewest_compared)
        text += " Fewer than 6 nodes are only put in order.";
    else if (group.nodes.size() < fewest_drained)
        text += " With fewer than 12 nodes none is to be drained.";
    return text;
}

std::string missing_text(const FleetFindings& findings)
{
    if (findings.missing.empty()) return "";
    return fmt::format("{} expected nodes are missing: {}", findings.missing.size(), join(findings.missing, ", "));
}

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

std::string fleet_text(const FleetFindings& findings, int columns)
{
    std::string text;
    const auto add = [&](const DataTable& table) {
        if (!table.empty()) text += to_text(first_rows(table), columns) + "\n";
    };
    for (const FleetGroup& group : findings.groups) {
        text += fitted_lines(title_of(group) + "\n" + counts_of(group) + "\n", columns) + "\n";
        add(nodes_table(group));
        add(ceilings_table(group));
        add(associations_table(group));
    }
    add(refused_table(findings));
    if (!findings.missing.empty()) text += fitted_lines(shortened(missing_text(findings), 2000) + "\n", columns);
    for (const std::string& note : findings.notes) text += fitted_lines(note + "\n", columns);
    return text;
}

nlohmann::json fleet_json(const FleetFindings& findings)
{
    nlohmann::json groups = nlohmann::json::array();
    for (const FleetGroup& group : findings.groups) {
        nlohmann::json nodes = nlohmann::json::array();
        for (const NodeFinding& node : group.nodes)
            nodes.push_back({{"node", json_text(node.node)}, {"finding", name(node.finding)}, {"drain", node.drain}});
        nlohmann::json populations = nlohmann::json::array();
        for (const CeilingFinding& ceiling : group.ceilings)
            for (const Population& population : ceiling.populations)
                populations.push_back({{"ceiling", json_text(ceiling.name)},
                                       {"median", json_number(population.median)},
                                       {"nodes", population.nodes}});
        groups.push_back({{"kind", json_text(group.kind)},
                          {"plan", json_text(group.plan)},
                          {"revision", json_text(group.revision)},
                          {"by", json_text(group.by)},
                          {"nodes", nodes},
                          {"node_ceilings", to_json(nodes_table(group))},
                          {"ceilings", to_json(ceilings_table(group))},
                          {"populations", populations},
                          {"associations", to_json(associations_table(group))}});
    }
    return {{"groups", groups},
            {"missing", findings.missing},
            {"refused", to_json(refused_table(findings))},
            {"tests", findings.tests},
            {"notes", findings.notes}};
}

std::string fleet_page(const FleetFindings& findings)
{
    std::string body;
    for (const FleetGroup& group : findings.groups)
        body += "<section><h2>" + escape(title_of(group)) + "</h2>\n" + paragraph(counts_of(group), "lead") +
                html_of(nodes_table(group)) + html_of(ceilings_table(group)) + html_of(associations_table(group)) +
                "</section>\n";
    body += html_of(refused_table(findings));
    if (!findings.missing.empty()) body += paragraph(shortened(missing_text(findings), 20'000));
    for (const std::string& note : findings.notes) body += paragraph(note);
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        "<title>fleet</title>\n<style>{}</style>\n</head>\n<body>\n<header><h1>Fleet</h1></header>\n<main>\n{}</"
        "main>\n</body>\n</html>\n",
        style_sheet(), body);
}

std::vector<std::string> nodes_to_retest(const FleetFindings& findings)
{
    std::set<std::string> nodes(findings.missing.begin(), findings.missing.end());
    for (const FleetGroup& group : findings.groups)
        for (const NodeFinding& node : group.nodes)
            if (node.finding != Finding::not_slow && !node.drain) nodes.insert(node.node);
    return {nodes.begin(), nodes.end()};
}

}  // namespace roof::analysis
