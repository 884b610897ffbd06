#include "analysis/study/exports/export.hpp"

#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/rows.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/names.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace roof::analysis {

namespace {

using nlohmann::json;

/// The roofs of the device at the most threads. Throws InputError for an unknown device, and without ceilings.
Roofs roofs_to_export(const Study& study, const std::string& device)
{
    const std::vector<std::string> devices = devices_of(study.ceilings);
    if (devices.empty()) throw InputError("there are no ceilings to export: " + calibration_warning(study));
    if (!is_in(device, devices)) throw InputError(unknown_word("device", device, devices));
    return roofs_of(study.ceilings, device);
}

std::string upper(std::string text)
{
    for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return text;
}

std::string as_ert(const Study& study, const std::string& device)
{
    const Roofs roofs = roofs_to_export(study, device);
    const auto rate = [](const std::string& name, const Ceiling& roof) {
        return json{name, roof.rate.median.value / giga};
    };
    const json bytes = mapped(roofs.levels, [&](const Ceiling* roof) { return rate(roof->level, *roof); });
    const json flops =
        mapped(roofs.compute, [&](auto* roof) { return rate(upper(roof->precision) + " GFLOPs", *roof); });
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

std::string as_carm(const Study& study, const std::string& device)
{
    const Roofs roofs = roofs_to_export(study, device);
    const Machine& machine = study.calibration.machine;
    std::vector<std::string> sizes{"Name:", exported_text(machine.name)};
    for (const std::string level : {"L1", "L2", "L3"}) {
        const MemoryLevel* const cache = machine.find_level(device, level);  // null where the machine lacks it
        sizes.push_back(level + " Size:");
        sizes.push_back(cache ? fmt::format("{:.0f}", cache->capacity.value / 1024) : "0");
    }
    std::string text = csv_line(sizes);
    text.pop_back();
    text +=
        ",,L1,L1,L2,L2,L3,L3,DRAM,DRAM,FP,FP,FP FMA,FP_FMA\n"
        "Date,ISA,Precision,Threads,Loads,Stores,Interleaved,DRAM Bytes,FP Inst.,GB/s,I/Cycle,GB/s,I/Cycle,GB/s,"
        "I/Cycle,GB/s,I/Cycle,Gflop/s,I/Cycle,Gflop/s,I/Cycle\n";
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

constexpr double gibi = 1024.0 * 1024 * 1024;

double memory_rate(const Roofs& roofs)
{
    const Ceiling* const memory = roofs.level("DRAM");
    if (memory == nullptr)
        throw InputError("this form needs the bandwidth of DRAM, which was not measured on " + roofs.device);
    return memory->rate.median.value;
}

/// GiB; nothing if not known.
std::optional<double> memory_size(const Study& study, const std::string& device)
{
    const Device* const found = study.calibration.machine.find_device(device);
    if (found == nullptr || !(found->memory.value > 0)) return std::nullopt;
    return found->memory.value / gibi;
}

std::string owner(const Study& study, const std::string& device)
{
    return owner_of(study.calibration.machine, device);
}

/// "measured by roof: calibration FOLDER of DATE; medians; lower bounds: DRAM, bf16".
std::string source_of(const Study& study, const Roofs& roofs)
{
    std::vector<std::string> bounds;
    for (const auto* list : {&roofs.levels, &roofs.compute})
        for (const Ceiling* roof : *list)
            if (roof->steadiness == Steadiness::at_least) bounds.push_back(level_or_precision(*roof));
    const std::string date = calibration_date(study);
    return printable(fmt::format("{} by roof: calibration {}{}; medians{}", name(study.ceilings.known()),
                                 study.calibration.folder.filename().string(), date.empty() ? "" : " of " + date,
                                 bounds.empty() ? "" : "; lower bounds: " + join(bounds, ", ")));
}

json labels_of(const Study& study, const Ceiling& roof)
{
    const Machine& machine = study.calibration.machine;
    json labels{{"device", roof.device},
                {"model", owner(study, roof.device)},
                {roof.kind == Role::bandwidth ? "level" : "precision", level_or_precision(roof)},
                {"operation", roof.operation},
                {"threads", std::to_string(roof.threads)},
                {"known", std::string(name(roof.known))},
                {"state", std::string(name(roof.steadiness))}};
    if (!machine.node.empty()) labels["node"] = machine.node;
    return labels;
}

std::string sample(const std::string& metric, const json& labels, double value)
{
    std::string text;
    for (const auto& [name, label] : labels.items())
        text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, label_text(label.get<std::string>()));
    return fmt::format("{}{{{}}} {}\n", metric, text, format_exact(value));
}

/// The JSON of a GPU's architecture for TraceLens: 1e9 B/s of memory, GiB, 1e12 FLOP/s as matrix_* (multiply-adds by
/// the fastest instruction) and vector_* (without tensor cores or tiles).
std::string as_tracelens(const Study& study, const std::string& device)
{
    const Roofs roofs = roofs_to_export(study, device);
    json peaks = json::object();
    for (const char* precision : {"fp64", "fp32", "fp16", "bf16", "fp8", "int8"}) {
        if (const Ceiling* roof = roofs.precision(precision))
            peaks[std::string("matrix_") + precision] = roof->rate.median.value / tera;
        if (const Ceiling* roof = fastest_by(study.ceilings, device, roofs.threads, precision, "fma"))
            peaks[std::string("vector_") + precision] = roof->rate.median.value / tera;
    }
    json document{{"name", json_text(owner(study, device))},
                  {"mem_bw_gbps", memory_rate(roofs) / giga},
                  {"max_achievable_tflops", peaks},
                  {"_reference", source_of(study, roofs)}};
    if (const auto size = memory_size(study, device)) document["memory_gb"] = *size;
    return json_document(document, 4) + "\n";
}

/// A Python module that enters the device into torch._inductor.analysis.device_info, under the name that PyTorch has
/// for it: 1e12 operations per second, 1e9 B/s, GiB. Run as a program, it is PyTorch's own profile_analysis.
std::string as_pytorch(const Study& study, const std::string& device)
{
    constexpr std::array<std::pair<const char*, const char*>, 7> types{{{"fp64", "torch.float64"},
                                                                        {"fp32", "torch.float32"},
                                                                        {"tf32", "\"torch.tf32\""},
                                                                        {"fp16", "torch.float16"},
                                                                        {"bf16", "torch.bfloat16"},
                                                                        {"fp8", "torch.float8_e4m3fn"},
                                                                        {"int8", "torch.int8"}}};
    const Roofs roofs = roofs_to_export(study, device);
    std::string rates;
    const auto add = [&](const char* type, const Ceiling* roof) {
        if (roof != nullptr)
            rates += fmt::format("        {}: {},\n", type, format_exact(roof->rate.median.value / tera));
    };
    for (const auto& [precision, type] : types) add(type, roofs.precision(precision));
    add("torch.float8_e5m2", fastest_by(study.ceilings, device, roofs.threads, "fp8", "tile_e5m2"));
    const auto size = memory_size(study, device);
    return fmt::format(
        "\"\"\"Peaks for torch._inductor.analysis, {}.\n\n"
        "Import this file before a profile is analysed, or run it in place of "
        "torch._inductor.analysis.profile_analysis, with its arguments.\n"
        "\"\"\"\n\n"
        "import torch\n"
        "from torch._inductor.analysis import device_info\n\n"
        "name = {}\n"
        "info = device_info.DeviceInfo(\n"
        "    tops={{\n{}    }},\n"
        "    dram_bw_gbs={},\n"
        "    dram_gb={},\n"
        ")\n"
        "# Releases differ in whether they ask for the name or for its capitals.\n"
        "device_info._device_mapping.update({{name: info, name.upper(): info}})\n\n"
        "if __name__ == \"__main__\":\n"
        "    from torch._inductor.analysis.profile_analysis import main\n\n"
        "    main()\n",
        label_text(source_of(study, roofs)), json_document(json_text(owner(study, device)), -1), rates,
        format_exact(memory_rate(roofs) / giga), size ? format_exact(*size) : "float(\"nan\")");
}

/// hardware_config.json of inference-sim: 1e12 FLOP/s of bf16 (of fp16 without it) and fp8, 1e12 B/s, GiB. Its shares
/// mfuPrefill and mfuDecode are 1, because the peak is measured.
std::string as_inference_sim(const Study& study, const std::string& device)
{
    const Roofs roofs = roofs_to_export(study, device);
    const Ceiling* half = roofs.precision("bf16");
    if (half == nullptr) half = roofs.precision("fp16");
    if (half == nullptr)
        throw InputError("inference-sim needs a peak in bf16 or fp16, and neither was measured on " + device);
    json peaks{{"_comment", source_of(study, roofs)},
               {"TFlopsPeak", half->rate.median.value / tera},
               {"BwPeakTBs", memory_rate(roofs) / tera},
               {"mfuPrefill", 1.0},
               {"mfuDecode", 1.0}};
    if (const Ceiling* roof = roofs.precision("fp8")) peaks["TFlopsFP8"] = roof->rate.median.value / tera;
    if (const auto size = memory_size(study, device)) peaks["MemoryGiB"] = *size;
    return json_document({{json_text(owner(study, device)), peaks}}, 4) + "\n";
}

/// Prometheus' text format 0.0.4: the roofs of every device in SI units, with the ends of their intervals. A lower
/// bound has no upper end.
std::string as_prometheus(const Study& study, const std::string&)
{
    struct Metric {
        const char* name;
        const char* what;
        std::vector<const Ceiling*> Roofs::*roofs;
    };
    constexpr std::array<Metric, 2> metrics{
        {{"roof_bandwidth_bytes_per_second", "fastest access to a memory level", &Roofs::levels},
         {"roof_compute_flops_per_second", "multiply-adds in a precision", &Roofs::compute}}};
    struct End {
        const char* suffix;
        const char* what;
        Hertz Rate::*value;
    };
    constexpr std::array<End, 3> ends{{{"", "median", &Rate::median},
                                       {"_low", "low end of the 95% interval", &Rate::low},
                                       {"_high", "high end of the 95% interval, none for a lower bound", &Rate::high}}};
    std::string text;
    for (const Metric& metric : metrics)
        for (const End& end : ends) {
            const std::string id = std::string(metric.name) + end.suffix;
            std::string samples;
            for (const std::string& device : devices_of(study.ceilings)) {
                const Roofs roofs = roofs_to_export(study, device);
                for (const Ceiling* roof : roofs.*metric.roofs) {
                    const bool is_open = roof->steadiness == Steadiness::at_least && end.value == &Rate::high;
                    if (!is_open) samples += sample(id, labels_of(study, *roof), (roof->rate.*end.value).value);
                }
            }
            if (!samples.empty())
                text +=
                    fmt::format("# HELP {} Roof: {}; {}.\n# TYPE {} gauge\n", id, metric.what, end.what, id) + samples;
        }
    if (text.empty()) throw InputError("there are no ceilings to export: " + calibration_warning(study));
    return text;
}

struct Form {
    std::string_view name;
    std::string (*write)(const Study& study, const std::string& device);  ///< null: tools/roof/commands/export.cpp
};
constexpr std::array<Form, 11> forms{
    {{"csv", [](const Study& study, const std::string&) { return to_csv(ceilings_table(study)); }},
     {"points", [](const Study& study, const std::string&) { return to_csv(placements_table(study)); }},
     {"ert", as_ert},
     {"likwid", as_likwid},
     {"carm", as_carm},
     {"tracelens", as_tracelens},
     {"pytorch", as_pytorch},
     {"inference-sim", as_inference_sim},
     {"prometheus", as_prometheus},
     {"digest", nullptr},
     {"atlas", nullptr}}};

}  // namespace

std::vector<std::string> export_formats()
{
    return names_in(forms);
}

std::string exported(const Study& study, std::string_view format, const std::string& device)
{
    const Form* const form = find_in(forms, format, &Form::name);
    if (form == nullptr || form->write == nullptr)
        throw InputError("--format: " + unknown_word("format", format, export_formats()));
    return form->write(study, device);
}

}  // namespace roof::analysis
