// The source of the numbers: machine, versions, plan, how each number is known, what was not measured and why; and what
// this run lacks, with the way to get it.
#include "analysis/report/report.hpp"
#include "analysis/roofline/roofs.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/rows.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

namespace roof::analysis {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string definitions(const Facts& facts)
{
    using Fact = Facts::value_type;
    static const std::vector<ColumnOf<Fact>> columns{
        {"what", "", [](const Fact& fact) { return word(fact.first); }},
        {"value", "", [](const Fact& fact) { return word(fact.second); }},
    };
    Facts known;
    std::ranges::copy_if(facts, std::back_inserter(known), [](const Fact& fact) { return !fact.second.empty(); });
    return html_table(table_of(columns, known));
}

std::string machine_facts(const Machine& m)
{
    std::vector<std::string> counts;  // those that are known
    const auto add = [&](int count, const char* of) {
        if (count > 0) counts.push_back(fmt::format("{} {}", count, of));
    };
    add(m.cores, "core(s)");
    add(m.threads, "hardware thread(s)");
    add(m.sockets, "socket(s)");
    add(m.numa_nodes, "NUMA node(s)");
    Facts facts{{"machine", m.name},
                {"CPU", m.cpu_model},
                {"cores", join(counts, ", ")},
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
         "measured: median of the launches after warm-up, 95% interval from order statistics; below six samples "
         "their range"},
        {"ceilings", "measured by the probes of this tool, never from a data sheet"},
        {"of spec", "the vendor's guide for one core, per clock; shown beside the ceilings and used in none"},
        {"FLOPs", "analytic: two per multiply-add over the full window, padding included"},
        {"bytes", "analytic interval: compulsory (each operand moves once) to no reuse (it moves at every use)"},
        {"bytes of a level",
         "counted; else analytic: for a product at least what its multiply-adds force through the nearer memory"},
        {"attainable time", "max(FLOPs / compute roof, compulsory bytes / bandwidth roof of each level)"},
        {"reached, headroom", "attainable / measured time; measured - attainable time, never below 0"},
        {"above a roof",
         "operands still in a cache count as traffic; taps on padding count as FLOPs; writes without a measured store "
         "have the rate of copies"},
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
    Facts facts;
    for (const Measurement* row : all_rows(study))
        if (!row->description.empty()) add_once(facts, {row->bench, row->description});
    return subheading("What each bench measures") + definitions(facts);
}

std::string plan_of(const Results& results, const std::string& what)
{
    if (results.plan.empty()) return {};
    std::string text;
    for (const std::string& line : split(results.plan, '\n')) text += escape(line) + "\n";
    return fmt::format("<details><summary>{}</summary><pre tabindex=\"0\">{}</pre></details>\n", escape(what), text);
}

std::string missing_capabilities(const Machine& machine)
{
    Facts facts;
    for (const Capability& c : machine.capabilities)
        if (!c.present) facts.emplace_back(c.name, c.reason + (c.remedy.empty() ? "" : " (remedy: " + c.remedy + ")"));
    return facts.empty() ? "" : subheading("Not available here") + definitions(facts);
}

std::vector<std::vector<std::string>> absent_from(const Study& study)
{
    const bool has_gpu = is_in("gpu", study.results.machine.devices, &Device::kind);
    const std::string where = has_gpu ? "" : "on a machine with a GPU: ";
    const auto has = [&](const char* file) { return std::filesystem::exists(study.results.folder / file); };
    std::vector<std::vector<std::string>> absent;
    if (study.ceilings.all.empty())
        absent.push_back({"ceilings", "`roof calibrate` on the same machine; nothing has roofs until then"});
    if (!has("kernels.csv"))
        absent.push_back({"kernels", where + "`roof run MODEL --profile`, or `roof import FILE` of another tool"});
    if (!has("api.csv") || !has("copies.csv"))
        absent.push_back({"API calls, copies", where + "`roof run MODEL --profile`, or `roof import FILE`"});
    if (!has("counters.csv"))
        absent.push_back({"counters; FLOPs and bytes are analytic",
                          "`roof run MODEL --profile` where the machine has any, or `roof import FILE` of Nsight "
                          "Compute, `perf stat -j` or LIKWID"});
    absent.push_back({"memory by category", "`roof estimate MODEL --batch N` (analytic)"});
    if (energy_table(study).rows.empty())
        absent.push_back({"joules",
                          "`roof run MODEL --sustain 12` where the device counts them; their roof: `roof calibrate "
                          "--lasting`"});
    std::set<std::string> devices;
    for (const Measurement* row : step_rows(study.results.rows)) devices.insert(row->device);
    if (devices.size() < 2)
        absent.push_back({"scaling over devices", "`roof sweep run/compare`; `roof list devices` names the devices"});
    return absent;
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
            text_list("Damaged files", all_damage(study)) + text_list("Remarks on the files", study.results.remarks) +
            subheading("How each number is known") + how_known() + sentences(study) + not_measured(study) +
            missing_capabilities(machine) +
            text_list("Inconsistencies in what the machine reports", machine.inconsistencies) +
            plan_of(study.results, "The plan of this run") + plan_of(study.calibration, "The plan of the calibration")};
}

Content absent_panel(const Study& study, const std::string&)
{
    if (step_rows(study.results.rows).empty()) return {};
    return {html_table(text_table({"absent", "how to get it"}, absent_from(study)))};
}

}  // namespace roof::analysis
