#include "analysis/study/exports/export.hpp"

#include "analysis/study/steps/verdict.hpp"
#include "analysis/table/rows.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <optional>
#include <utility>

namespace roof::analysis {
namespace {

using nlohmann::json;

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

}  // namespace

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

std::string as_prometheus(const Study& study)
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

}  // namespace roof::analysis
