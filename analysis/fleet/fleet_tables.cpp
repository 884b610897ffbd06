#include "analysis/fleet/fleet_tables.hpp"

#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace roof::analysis {
namespace {

struct NodeRow {
    const NodeFinding* node;
    const NodeCeiling* ceiling;
};

std::string text_of(const NodeCeiling& c)
{
    if (c.finding == Finding::missing) return "-";
    return std::isfinite(c.high) ? ratio_text(c.ratio, c.low, c.high) : fmt::format("at least {:.3f}", c.low);
}

std::string remark_of(const NodeRow& row)
{
    const NodeCeiling& c = *row.ceiling;
    std::string text = c.finding != Finding::slow ? c.reason
                       : c.on_another_day         ? "slow on two days"
                                                  : "measure again on another day";
    return c.days > 1 ? fmt::format("mean of {} days; {}", c.days, text) : text;
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
             return only_if(r.ceiling->finding != Finding::missing, number(r.ceiling->ratio, text_of(*r.ceiling)));
         }},
        {"", "low", [](R r) { return number(r.ceiling->low); }},
        {"", "high", [](R r) { return number(r.ceiling->high); }},
        {"by chance", "chance",
         [](R r) { return only_if(r.ceiling->chance < 1, number(r.ceiling->chance, chance_text(r.ceiling->chance))); }},
        {"", "on_another_day", [](R r) { return truth(r.ceiling->on_another_day); }},
        {"remark", "remark", [](R r) { return word(remark_of(r)); }},
    };
    std::vector<NodeRow> rows;
    for (const NodeFinding& node : group.nodes)
        for (const NodeCeiling& ceiling : node.ceilings) rows.push_back({&node, &ceiling});
    std::ranges::stable_sort(rows, {}, [](const NodeRow& row) {
        return std::pair(row.ceiling->finding != Finding::slow, row.ceiling->ratio);
    });
    return table_of(columns, rows, "Ceilings of nodes that are not like the others'");
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
        {"median", "median",
         [](R r) {
             return only_if(r.nodes > 0, r.unit.empty() ? number(r.median, fmt::format("{:.3f}", r.median))
                                                        : amount(r.median, printable(r.unit)));
         }},
        {"scatter", "scatter",
         [](R r) { return only_if(r.nodes >= fewest_compared, number(r.scatter, percent(r.scatter))); }},
        {"day to day", "day_to_day",
         [](R r) { return only_if(r.day_to_day > 0, number(r.day_to_day, percent(r.day_to_day))); }},
        {"slow", "slow", [](R r) { return count(r.slow); }},
        {"undecided", "undecided", [](R r) { return count(r.undecided); }},
        {"", "populations", [](R r) { return word(populations_text(r)); }, Shown::everywhere},
    };
    DataTable table =
        table_of(columns, group.ceilings, "Ceilings of the group; scatter: between nodes, beyond their intervals");
    table.columns.back().title = "remark";
    drop_empty_columns(table);
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
    return table_of(columns, group.associations,
                    "What goes with a difference (corrected for all facts and ceilings; it need not be the cause)");
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
    std::string text =
        fmt::format("{}: {} slow, {} implausible, {} undecided, {} not slow.", how_many(group.nodes.size(), "node"),
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

DataTable links_table(const LinkFindings& links)
{
    using R = const SlowLinks&;
    static const std::vector<ColumnOf<SlowLinks>> columns{
        {"what is slow", "fault", [](R r) { return word(name(r.fault)); }},
        {"nodes", "nodes", [](R r) { return word(shortened(join(r.nodes, " "), 200), join(r.nodes, " ")); }},
        {"share", "shared", [](R r) { return word(printable(r.shared)); }},
        {"links", "links", [](R r) { return count(r.links); }},
        {"to the others", "ratio", [](R r) { return number(r.ratio, fmt::format("{:.3f}", r.ratio)); }},
        {"by chance", "chance", [](R r) { return only_if(r.chance < 1, number(r.chance, chance_text(r.chance))); }},
        {"remark", "remark", [](R r) { return word(r.remark); }},
    };
    DataTable table = table_of(columns, links.slow, "Slow links");
    drop_empty_columns(table);
    return table;
}

FleetSection section_of(const LinkFindings& links)
{
    std::string lead = fmt::format("{} of {}, median {}.", how_many(links.links, "link"), how_many(links.nodes, "node"),
                                   format_si(links.median, "B/s"));
    lead += !links.note.empty()  ? " " + links.note + "."
            : links.slow.empty() ? " None is slow beyond its nodes, and no node's links are slow."
                                 : "";
    return {
        printable(fmt::format("Links between nodes, plan {}, revision {}", links.plan.substr(0, 8), links.revision)),
        lead,
        {links_table(links)}};
}

}  // namespace

nlohmann::json fleet_json(const FleetFindings& findings, const std::vector<LinkFindings>& links)
{
    nlohmann::json networks = nlohmann::json::array();
    nlohmann::json slow_links = nlohmann::json::array();
    for (const LinkFindings& found : links) {
        networks.push_back({{"plan", json_text(found.plan)},
                            {"revision", json_text(found.revision)},
                            {"nodes", found.nodes},
                            {"links", found.links},
                            {"median", json_number(found.median)},
                            {"scatter", json_number(found.scatter)},
                            {"note", found.note}});
        for (nlohmann::json row : to_json(links_table(found))) {
            row["plan"] = json_text(found.plan);
            slow_links.push_back(std::move(row));
        }
    }
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
            {"networks", networks},
            {"links", slow_links},
            {"missing", findings.missing},
            {"refused", to_json(refused_table(findings.refused))},
            {"tests", findings.tests},
            {"notes", findings.notes}};
}

FleetReport report_of(const FleetFindings& findings, const std::vector<LinkFindings>& links)
{
    FleetReport report{.sections = {}, .notes = findings.notes};
    for (const FleetGroup& group : findings.groups)
        report.sections.push_back({title_of(group),
                                   counts_of(group),
                                   {nodes_table(group), ceilings_table(group), associations_table(group)}});
    for (const LinkFindings& found : links) report.sections.push_back(section_of(found));
    const std::string missing =
        findings.missing.empty() ? ""
                                 : fmt::format("Missing, though expected: {}: {}",
                                               how_many(findings.missing.size(), "node"), join(findings.missing, ", "));
    if (!findings.refused.empty() || !missing.empty())
        report.sections.push_back({"Not judged", shortened(missing, 20'000), {refused_table(findings.refused)}});
    return report;
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
