#include "analysis/fleet/fleet_tables.hpp"

#include "analysis/fleet/robust.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
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
    std::string text = c.finding != Finding::slow || !c.reason.empty() ? c.reason
                       : c.on_another_day                              ? "slow on two days"
                                                                       : "measure again on another day";
    return c.days > 1 ? fmt::format("mean of {} days; {}", c.days, text) : text;
}

/// `all`: also the ceilings that a node lacks; else they are in lacking_text().
DataTable rates_table(const FleetGroup& group, bool all)
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
        for (const NodeCeiling& ceiling : node.ceilings)
            if (all || ceiling.finding != Finding::missing) rows.push_back({&node, &ceiling});
    std::ranges::stable_sort(rows, {}, [](const NodeRow& row) {
        return std::pair(-static_cast<int>(row.ceiling->finding), row.ceiling->ratio);
    });
    return table_of(columns, rows, "Ceilings of nodes that are not like the others'");
}

/// What stands behind the node's finding.
std::string reason_of(const NodeFinding& node)
{
    if (!node.reason.empty() || node.ceilings.empty()) return node.reason;
    const NodeCeiling& first = node.ceilings.front();
    const auto alike =
        static_cast<std::size_t>(std::ranges::count(node.ceilings, first.finding, &NodeCeiling::finding));
    return fmt::format("{} at {:.3f}{}", first.ceiling, first.ratio,
                       alike > 1 ? fmt::format(", and {} more", alike - 1) : "");
}

std::string advice_of(const NodeFinding& node)
{
    return node.drain ? "drain" : "measure again";
}

DataTable nodes_table(const std::vector<NodeFinding>& nodes)
{
    using R = const NodeFinding&;
    static const std::vector<ColumnOf<NodeFinding>> columns{
        {"node", "node", [](R r) { return word(printable(r.node)); }},
        {"state", "finding", [](R r) { return word(name(r.finding)); }},
        {"why", "reason", [](R r) { return word(printable(reason_of(r))); }},
        {"what to do", "advice", [](R r) { return word(advice_of(r)); }},
    };
    std::vector<NodeFinding> listed;
    std::ranges::copy_if(nodes, std::back_inserter(listed), [](R r) { return r.finding != Finding::fine; });
    std::ranges::stable_sort(listed, {}, [](R r) { return -static_cast<int>(r.finding); });
    return table_of(columns, listed, "Nodes that are not fine");
}

std::string populations_text(const CeilingFinding& c)
{
    if (c.populations.empty()) return "";
    const Population& lower = c.populations.front();
    const Population& upper = c.populations.back();
    return fmt::format("two populations: {} at {}, {} at {}", how_many(lower.nodes.size(), "node"),
                       format_si(lower.median, c.unit), upper.nodes.size(), format_si(upper.median, c.unit));
}

/// Whether there is more to say of the ceiling than its name.
bool is_told(const CeilingFinding& ceiling)
{
    return ceiling.nodes > 0 || ceiling.slow > 0 || ceiling.undecided > 0;
}

/// `all`: also those of which no node has a rate; else their number is in lacking_text().
DataTable ceilings_table(const FleetGroup& group, bool all)
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
        {"visible", "visible", [](R r) { return only_if(r.visible > 0, number(r.visible, percent(r.visible))); }},
        {"slow", "slow", [](R r) { return count(r.slow); }},
        {"undecided", "undecided", [](R r) { return count(r.undecided); }},
        {"", "populations", [](R r) { return word(populations_text(r)); }, Shown::everywhere},
    };
    std::vector<CeilingFinding> rows;
    std::ranges::copy_if(group.ceilings, std::back_inserter(rows), [&](R r) { return all || is_told(r); });
    DataTable table = table_of(
        columns, rows,
        "Ceilings of the group; scatter: between nodes, beyond their intervals; visible: the smallest difference "
        "of one node that is found in 95% of cases");
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

std::string title_of(const FleetGroup& group)
{
    return printable(fmt::format("{}{}, plan {}, revision {}", group.kind, group.by.empty() ? "" : ", " + group.by,
                                 group.plan.substr(0, 8), group.revision));
}

/// "2 slow, 98 fine": of each finding that a node has, the worst first.
std::string counts_of(const std::vector<NodeFinding>& nodes)
{
    std::map<Finding, std::size_t, std::greater<>> numbers;
    for (const NodeFinding& node : nodes) ++numbers[node.finding];
    std::vector<std::string> parts;
    for (const auto& [finding, number] : numbers) parts.push_back(fmt::format("{} {}", number, name(finding)));
    return join(parts, ", ");
}

/// The smallest difference of a node that would have been seen: in one ceiling, of those with the usual one, and in a kind's mean.
std::string visible_text(const FleetGroup& group)
{
    std::vector<double> ceilings;
    std::vector<double> means;
    for (const CeilingFinding& ceiling : group.ceilings)
        if (ceiling.visible > 0) (ceiling.rates > 1 ? means : ceilings).push_back(ceiling.visible);
    if (ceilings.empty()) return " No difference could have been seen.";
    const auto [least, most] = std::ranges::minmax(ceilings);
    std::string text = fmt::format(" A node that is slower by {} in one ceiling", percent(median_of(ceilings)));
    if (most > 1.05 * least) text += fmt::format(" ({} to {}, by the ceiling)", percent(least), percent(most));
    if (!means.empty()) text += fmt::format(", or by {} in all of a kind,", percent(median_of(means)));
    return text + " would be found in 95% of cases.";
}

/// What the tables leave out.
std::string lacking_text(const FleetGroup& group)
{
    std::string text;
    const auto bounds =
        std::ranges::count_if(group.ceilings, [](const auto& one) { return one.rates == 1 && !is_told(one); });
    if (bounds > 0)
        text +=
            fmt::format(" Of {} there are only lower bounds.", how_many(static_cast<std::size_t>(bounds), "ceiling"));
    std::vector<std::string> nodes;
    for (const NodeFinding& node : group.nodes)
        if (const auto lacks = std::ranges::count(node.ceilings, Finding::missing, &NodeCeiling::finding); lacks > 0)
            nodes.push_back(fmt::format("{} {}", printable(node.node), lacks));
    constexpr std::size_t most_listed = 10;
    if (const std::size_t number = nodes.size(); number > most_listed) {
        nodes.resize(most_listed);
        nodes.push_back(fmt::format("and {} nodes more", number - most_listed));
    }
    if (!nodes.empty()) text += " Ceilings that a node's digest lacks: " + join(nodes, ", ") + ".";
    return text;
}

std::string lead_of(const FleetGroup& group)
{
    std::string text = fmt::format("{}: {}.", how_many(group.nodes.size(), "node"), counts_of(group.nodes));
    std::vector<std::string> drained;
    for (const NodeFinding& node : group.nodes)
        if (node.drain) drained.push_back(printable(node.node));
    if (!drained.empty()) text += " To be drained: " + join(drained, ", ") + ".";
    if (group.nodes.size() >= fewest_compared && group.nodes.size() < fewest_drained)
        text += " With fewer than 12 nodes none is to be drained.";
    return text + visible_text(group) + lacking_text(group);
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
    if (links.visible_link > 0)
        lead += fmt::format(
            " A link that is slower by {}, or a node whose links are slower by {}, would be found in "
            "95% of cases.",
            percent(links.visible_link), percent(links.visible_node));
    return {
        printable(fmt::format("Links between nodes, plan {}, revision {}", links.plan.substr(0, 8), links.revision)),
        lead,
        {links_table(links)}};
}

nlohmann::json node_json(const NodeFinding& node)
{
    return {{"node", json_text(node.node)},
            {"finding", name(node.finding)},
            {"reason", json_text(reason_of(node))},
            {"drain", node.drain}};
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
                            {"visible_node", json_number(found.visible_node)},
                            {"visible_link", json_number(found.visible_link)},
                            {"note", found.note}});
        for (nlohmann::json row : to_json(links_table(found))) {
            row["plan"] = json_text(found.plan);
            slow_links.push_back(std::move(row));
        }
    }
    nlohmann::json aside = nlohmann::json::array();
    for (const NodeFinding& node : findings.aside) aside.push_back(node_json(node));
    nlohmann::json groups = nlohmann::json::array();
    for (const FleetGroup& group : findings.groups) {
        nlohmann::json nodes = nlohmann::json::array();
        for (const NodeFinding& node : group.nodes) nodes.push_back(node_json(node));
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
                          {"node_ceilings", to_json(rates_table(group, true))},
                          {"ceilings", to_json(ceilings_table(group, true))},
                          {"populations", populations},
                          {"associations", to_json(associations_table(group))}});
    }
    return {{"groups", groups},
            {"networks", networks},
            {"links", slow_links},
            {"aside", aside},
            {"status", status_of(findings)},
            {"refused", to_json(refused_table(findings.refused))},
            {"tests", findings.tests},
            {"notes", findings.notes}};
}

FleetReport report_of(const FleetFindings& findings, const std::vector<LinkFindings>& links)
{
    FleetReport report{.sections = {}, .notes = findings.notes};
    for (const FleetGroup& group : findings.groups)
        report.sections.push_back({title_of(group),
                                   lead_of(group),
                                   {nodes_table(group.nodes), rates_table(group, false), ceilings_table(group, false),
                                    associations_table(group)}});
    for (const LinkFindings& found : links) report.sections.push_back(section_of(found));
    if (!findings.refused.empty() || !findings.aside.empty())
        report.sections.push_back({"Not judged",
                                   findings.aside.empty()
                                       ? ""
                                       : fmt::format("{} in no group: {}.", how_many(findings.aside.size(), "node"),
                                                     counts_of(findings.aside)),
                                   {nodes_table(findings.aside), refused_table(findings.refused)}});
    return report;
}

std::vector<std::string> nodes_to_retest(const FleetFindings& findings)
{
    std::set<std::string> nodes;
    const auto add = [&](const std::vector<NodeFinding>& found) {
        for (const NodeFinding& node : found)
            if (node.finding != Finding::fine && !node.drain) nodes.insert(node.node);
    };
    add(findings.aside);
    for (const FleetGroup& group : findings.groups) add(group.nodes);
    return {nodes.begin(), nodes.end()};
}

}  // namespace roof::analysis
