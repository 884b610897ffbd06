#include "analysis/study/exports/export.hpp"

#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/csv.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace roof::analysis {
namespace {

std::string upper(std::string text)
{
    for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return text;
}

std::string as_ert(const Study& study, const std::string& device)
{
    using nlohmann::json;
    const Roofs roofs = roofs_to_export(study, device);
    json bytes = json::array();
    json flops = json::array();
    for (const Ceiling* roof : roofs.levels) bytes.push_back({roof->level, roof->rate.median.value / giga});
    for (const Ceiling* roof : roofs.compute)
        flops.push_back({upper(roof->precision) + " GFLOPs", roof->rate.median.value / giga});
    const bool is_gpu = device.starts_with("gpu");
    const json made{{"ROOF", study.calibration.machine.name},
                    {"CALIBRATION", study.calibration.folder.filename().string()},
                    {"CONFIG", fmt::format("{{'ERT_GPU': ['{}']}}", is_gpu ? "True" : "False")}};
    const json document{{"empirical",
                         {{"metadata", made},
                          {"gbytes", {{"metadata", json::object()}, {"data", bytes}}},
                          {"gflops", {{"metadata", json::object()}, {"data", flops}}}}}};
    return json_document(document, 2) + "\n";
}

/// A table in frames of '+', '-' and '|', as likwid draws them.
std::string framed(const std::vector<std::vector<std::string>>& rows)
{
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    std::string line = "+";
    for (const std::size_t width : widths) line += std::string(width + 2, '-') + "+";
    line += "\n";
    std::string text = line;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        text += "|";
        for (std::size_t i = 0; i < rows[r].size(); ++i) text += fmt::format(" {:>{}} |", rows[r][i], widths[i]);
        text += "\n";
        if (r == 0) text += line;
    }
    return text + line;
}

std::string as_likwid(const Study& study, const std::string& device)
{
    const Roofs roofs = roofs_to_export(study, device);
    const auto table = [](const char* what, const char* unit, const std::vector<const Ceiling*>& ceilings) {
        std::vector<std::vector<std::string>> rows{{what, "Operation", "Threads", unit}};
        for (const Ceiling* roof : ceilings)
            rows.push_back({level_or_precision(*roof), roof->operation, std::to_string(roof->threads),
                            fmt::format("{:.2f}", roof->rate.median.value / mega)});
        return framed(rows);
    };
    return table("Memory level", "MByte/s", roofs.levels) + table("Precision", "MFLOP/s", roofs.compute);
}

std::string rate_text(const Ceiling* ceiling)
{
    return ceiling == nullptr ? "0" : fmt::format("{:.4f}", ceiling->rate.median.value / giga);
}

/// 0 for a level that the machine lacks.
std::string kibibytes_of(const Machine& machine, const std::string& device, const std::string& level)
{
    const MemoryLevel* const cache = machine.find_level(device, level);
    return cache == nullptr ? "0" : fmt::format("{:.0f}", cache->capacity.value / 1024);
}

std::string as_carm(const Study& study, const std::string& device)
{
    const Roofs roofs = roofs_to_export(study, device);
    const Machine& machine = study.calibration.machine;
    const auto size = [&](const char* level) { return kibibytes_of(machine, device, level); };
    std::string text = csv_line(std::vector<std::string>{"Name:",    exported_text(machine.name),
                                                         "L1 Size:", size("L1"),
                                                         "L2 Size:", size("L2"),
                                                         "L3 Size:", size("L3"),
                                                         "",         "L1",
                                                         "L1",       "L2",
                                                         "L2",       "L3",
                                                         "L3",       "DRAM",
                                                         "DRAM",     "FP",
                                                         "FP",       "FP FMA",
                                                         "FP_FMA"});
    text += csv_line(std::vector<std::string>{"Date",        "ISA",        "Precision", "Threads", "Loads",   "Stores",
                                              "Interleaved", "DRAM Bytes", "FP Inst.",  "GB/s",    "I/Cycle", "GB/s",
                                              "I/Cycle",     "GB/s",       "I/Cycle",   "GB/s",    "I/Cycle", "Gflop/s",
                                              "I/Cycle",     "Gflop/s",    "I/Cycle"});
    const auto loads_of = [&](const char* level) {
        return fastest_by(study.ceilings, device, roofs.threads, level, "load");
    };
    const Ceiling* const memory = loads_of("DRAM");
    const std::string of_memory = memory == nullptr ? "0" : fmt::format("{:.0f}", memory->working_set.value / 1024);
    bool has_rows = false;
    for (const auto& [precision, name] : {std::pair{"fp64", "dp"}, {"fp32", "sp"}}) {
        const Ceiling* const peak = roofs.precision(precision);
        if (peak == nullptr) continue;
        has_rows = true;
        std::vector<std::string> cells{
            calibration_date(study), peak->isa, name, std::to_string(roofs.threads), "1", "0", "No", of_memory, "fma"};
        for (const char* level : {"L1", "L2", "L3", "DRAM"}) {
            cells.push_back(rate_text(loads_of(level)));
            cells.emplace_back();  // instructions per cycle: not known
        }
        cells.insert(cells.end(), {rate_text(peak), "", "0", ""});  // the tool writes 0 beside a rate of multiply-adds
        text += csv_line(cells);
    }
    if (!has_rows) throw InputError("the CARM tool draws fp64 and fp32 alone, and neither was measured on " + device);
    return text;
}

}  // namespace

Roofs roofs_to_export(const Study& study, const std::string& device)
{
    const std::vector<std::string> devices = devices_of(study.ceilings);
    if (devices.empty()) throw InputError("there are no ceilings to export: " + calibration_warning(study));
    if (std::ranges::find(devices, device) == devices.end()) throw InputError(unknown_word("device", device, devices));
    return roofs_of(study.ceilings, device);
}

std::vector<std::string> export_formats()
{
    return {
        "csv",     "points",        "ert",        "likwid", "carm", "tracelens",
        "pytorch", "inference-sim", "prometheus", "digest", "atlas"};  // the last two: tools/roof/commands/export.cpp
}

std::string exported(const Study& study, std::string_view format, const std::string& device)
{
    if (format == "csv") return to_csv(ceilings_table(study));
    if (format == "points") return to_csv(placements_table(study));
    if (format == "ert") return as_ert(study, device);
    if (format == "likwid") return as_likwid(study, device);
    if (format == "carm") return as_carm(study, device);
    if (format == "tracelens") return as_tracelens(study, device);
    if (format == "pytorch") return as_pytorch(study, device);
    if (format == "inference-sim") return as_inference_sim(study, device);
    if (format == "prometheus") return as_prometheus(study);
    throw InputError("--format: " + unknown_word("format", format, export_formats()));
}

}  // namespace roof::analysis
