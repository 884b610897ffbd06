// Lists what this run lacks and how to get it.
#include "analysis/report/report.hpp"
#include "analysis/roofline/roofs.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/rows.hpp"
#include "analysis/table/table.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace roof::analysis {

namespace {

bool has_latency(const Study& study)
{
    return std::ranges::any_of(
        all_rows(study), [](const Measurement& row) { return row.bench == "latency" && row.status == Status::ok; });
}

bool has_several_devices(const Study& study)
{
    std::set<std::string> devices;
    for (const Measurement* row : step_rows(study.results.rows)) devices.insert(row->device);
    return devices.size() > 1;
}

bool has_gpu(const Machine& machine)
{
    return std::ranges::any_of(machine.devices, [](const Device& device) { return device.kind == "gpu"; });
}

/// What is absent, and how to get it.
std::vector<std::vector<std::string>> absent_from(const Study& study)
{
    const std::string where = has_gpu(study.results.machine) ? "" : "on a machine with a GPU: ";
    const auto has = [&](const char* file) { return std::filesystem::exists(study.results.folder / file); };
    std::vector<std::vector<std::string>> absent;
    if (study.ceilings.all.empty())
        absent.push_back({"ceilings", "`roof calibrate` on the same machine; nothing has roofs until then"});
    if (!has("kernels.csv"))
        absent.push_back({"kernels", where + "`roof run MODEL --profile`, or `roof import FILE` of another tool"});
    if (!has("api.csv") || !has("copies.csv"))
        absent.push_back({"API calls, copies", where + "`roof run MODEL --profile`, or `roof import FILE`"});
    if (!has("counters.csv"))
        absent.push_back(
            {"counters; FLOPs and bytes are analytic",
             "`roof run MODEL --profile` where the machine has any, or `roof import FILE` of Nsight Compute, "
             "`perf stat -j` or LIKWID"});
    absent.push_back({"memory by category", "`roof estimate MODEL --batch N` (analytic)"});
    absent.push_back({"energy", "`perf stat -e power/energy-pkg/ roof run MODEL`"});
    if (!has_several_devices(study))
        absent.push_back({"scaling over devices", "`roof sweep run/compare`; `roof list devices` names the devices"});
    if (!has_latency(study)) absent.push_back({"latency of the memory levels", "`roof calibrate`"});
    return absent;
}

}  // namespace

Content absent_panel(const Study& study, const std::string&)
{
    if (step_rows(study.results.rows).empty()) return {};
    return {html_table(text_table({"absent", "how to get it"}, absent_from(study)))};
}

}  // namespace roof::analysis
