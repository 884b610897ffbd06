// The source of the numbers: machine, versions, plan, how each number is known, and what was not measured and why.
#include "analysis/report/report.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/study/verdict.hpp"
#include "analysis/table/html.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {

namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string definitions(const Facts& facts)
{
    std::string html = "<dl>\n";
    for (const auto& [term, text] : facts)
        if (!text.empty()) html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape(term), escape(text));
    return html + "</dl>\n";
}

std::string machine_facts(const Machine& m)
{
    Facts facts{{"machine", m.name},
                {"CPU", m.cpu_model},
                {"cores", fmt::format("{} cores, {} hardware threads, {} sockets, {} NUMA nodes", m.cores, m.threads,
                                      m.sockets, m.numa_nodes)},
                {"instruction sets", join(m.isa, " ")},
                {"virtual machine", m.hypervisor},
                {"clock as reported", m.clock_reported.value > 0 ? format_si(m.clock_reported.value, "Hz") : ""},
                {"frequency governor", m.governor},
                {"huge pages", m.huge_pages}};
    for (const Device& device : m.devices)
        if (device.kind != "cpu") facts.emplace_back(device.name, device.model);
    for (const auto& [what, version] : m.versions) facts.emplace_back(what, version);
    return definitions(facts);
}

std::string how_known()
{
    return definitions({
        {"times",
         "measured: median of the launches after warm-up, with a distribution-free 95% interval from order statistics; "
         "with fewer than six samples the smallest and the largest"},
        {"ceilings", "measured by the probes of this tool, never taken from a data sheet"},
        {"of spec",
         "figures of the maker's guide for one core, per clock. They are shown beside the ceilings and are part of "
         "none. "
         "The clock is measured beside each launch"},
        {"FLOPs",
         "analytic: two per multiply-add over the full kernel window, taps on padding included; elementwise layers one "
         "or a few per element"},
        {"bytes",
         "analytic interval: from compulsory (each operand moves once) to no reuse (it moves again at every use); "
         "compulsory "
         "if the layer's footprint fits into the caches nearer to the core"},
        {"intensity", "FLOPs / bytes, at each level"},
        {"attainable time", "max(FLOPs / compute roof, compulsory bytes / bandwidth roof of each level)"},
        {"reached, headroom", "attainable time / measured time; measured time - attainable time, never below 0"},
        {"above a roof",
         "possible: operands still in a cache from the layer before count as traffic, and taps on padding count as "
         "FLOPs"},
    });
}

std::string not_measured(const Study& study)
{
    const DataTable table = not_measured_table(study);
    return subheading("Not measured") +
           (table.empty() ? paragraph("Every planned row was measured.") : html_table(table));
}

std::string sentences(const Study& study)
{
    std::vector<std::string> texts;
    for (const Results* results : {&study.results, &study.calibration})
        for (const Measurement& row : results->rows) {
            const std::string text = row.bench + ": " + row.description;
            if (!row.description.empty() && std::find(texts.begin(), texts.end(), text) == texts.end())
                texts.push_back(text);
        }
    return text_list("What each bench measures", texts);
}

std::string plan_of(const Results& results, const std::string& what)
{
    if (results.plan.empty()) return {};
    std::string text;
    for (const std::string& line : split(results.plan, '\n')) text += escape(line) + "\n";
    return fmt::format("<details><summary>{}</summary><pre>{}</pre></details>\n", escape(what), text);
}

std::vector<std::string> missing_capabilities(const Machine& machine)
{
    std::vector<std::string> texts;
    for (const Capability& c : machine.capabilities)
        if (!c.present)
            texts.push_back(c.name + ": " + c.reason + (c.remedy.empty() ? "" : " (remedy: " + c.remedy + ")"));
    return texts;
}

}  // namespace

Content provenance_panel(const Study& study, const std::string&)
{
    const Machine& machine = study.results.machine;
    const std::string calibration =
        study.calibration.folder.empty() ? "none" : study.calibration.folder.filename().string();
    return {machine_facts(machine) +
            definitions({{"results", study.results.folder.filename().string()},
                         {"calibration", calibration},
                         {"calibrated", calibration_date(study)}}) +
            text_list("Damaged files", study.results.damage) +
            text_list("Remarks on the files", study.results.remarks) + subheading("How each number is known") +
            how_known() + sentences(study) + not_measured(study) +
            text_list("Not available here", missing_capabilities(machine)) +
            text_list("Inconsistencies in what the machine reports", machine.inconsistencies) +
            plan_of(study.results, "The plan of this run") + plan_of(study.calibration, "The plan of the calibration")};
}

}  // namespace roof::analysis
