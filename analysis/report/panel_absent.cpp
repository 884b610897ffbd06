// Lists what this run lacks and how to get it.
#include "analysis/report/report.hpp"
#include "analysis/roofline/roofs.hpp"
#include "analysis/study/recording_tables.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/rows.hpp"

#include <algorithm>
#include <set>

namespace roof::analysis {

namespace {

bool has_latency(const Study& study)
{
    const auto measured = [](const Measurement& row) { return row.bench == "latency" && row.status == Status::ok; };
    return std::ranges::any_of(study.calibration.rows, measured) || std::ranges::any_of(study.results.rows, measured);
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

std::vector<std::string> absent_from(const Study& study)
{
    const bool gpu = has_gpu(study.results.machine);
    std::vector<std::string> texts;
    if (study.ceilings.all.empty())
        texts.push_back(
            "Ceilings: run `roof calibrate` on the same machine, then `roof report` again. Nothing can be placed under "
            "roofs "
            "until then.");
    const std::string where = gpu ? "" : "a training step on the CPU has none. On a machine with a GPU, ";
    if (!has_recording(study, "kernels.csv"))
        texts.push_back("Kernels: " + where +
                        "`roof run MODEL --profile` records them, and `roof import FILE` reads those of other tools.");
    if (!has_recording(study, "api.csv") || !has_recording(study, "copies.csv"))
        texts.push_back("API calls, copies between host and device: " + where +
                        "`roof run MODEL --profile` records them, and `roof import FILE` reads those of Nsight Systems "
                        "and PyTorch's profiler.");
    if (!has_recording(study, "counters.csv"))
        texts.push_back(
            "Counters: none were read with this run, so its FLOPs and bytes are analytic. `roof run MODEL --profile` "
            "reads "
            "them if the machine has any, `roof import FILE` reads those of Nsight Compute, `perf stat -j` and "
            "LIKWID.");
    texts.push_back(
        "Memory by category: only the total is measured. `roof estimate MODEL --batch N` divides it into parameters, "
        "activations and workspace (analytic).");
    texts.push_back(
        "Energy: this release does not read energy counters. `perf stat -e power/energy-pkg/ roof run MODEL` does, on "
        "machines that have them.");
    if (!has_several_devices(study))
        texts.push_back(
            "Scaling over devices: all steps here ran on one. Use a plan whose rows name more than one device, with "
            "`roof "
            "sweep PLAN`; `roof list devices` names the devices.");
    if (!has_latency(study))
        texts.push_back(
            "Latency of the memory levels: `roof calibrate` and any plan with the bench `latency` measure it.");
    return texts;
}

}  // namespace

Content absent_panel(const Study& study, const std::string&)
{
    if (step_rows(study.results.rows).empty()) return {};
    return {text_list("", absent_from(study))};
}

}  // namespace roof::analysis
