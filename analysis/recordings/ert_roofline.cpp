// The Empirical Roofline Tool's roofline.json: {"empirical": {"gbytes": {"data": [["L1", 91.2], …]}, "gflops":
// {"data": [["FP64 GFLOPs", 33.1], …]}}, …}. The keys name the units: 1e9 bytes, or FLOPs, per second.
#include "analysis/recordings/import.hpp"
#include "ert/base/names.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace roof::analysis {

namespace {

using Json = nlohmann::json;

struct NamedRate {
    std::string name;
    double per_second;
};

std::vector<NamedRate> read_pairs(const Json& empirical, const char* key, const std::string& file)
{
    const auto wrong = [&](const std::string& what) { return InputError(fmt::format("{}: {}: {}", file, key, what)); };
    if (!empirical.contains(key)) return {};
    const Json& section = empirical.at(key);
    if (!section.is_object() || !section.contains("data") || !section.at("data").is_array())
        throw wrong("expected a list 'data'");
    std::vector<NamedRate> pairs;
    for (const Json& pair : section.at("data")) {
        if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number())
            throw wrong("expected a pair of a name and a number, not " + printable(pair.dump().substr(0, 60)));
        const auto value = pair[1].get<double>();
        if (!std::isfinite(value) || value <= 0) throw wrong("expected a rate above 0");
        pairs.push_back({pair[0].get<std::string>(), value * 1e9});
    }
    return pairs;
}

/// In labels such as "FP64 GFLOPs". The precision of a label without one is unknown, because the tool's default depends on its build.
constexpr std::array<Named<std::string_view>, 3> precisions{{{"fp64", "FP64"}, {"fp32", "FP32"}, {"fp16", "FP16"}}};

/// "gpu:0" if the metadata's configuration has ERT_GPU; otherwise, or without metadata, "cpu".
std::string device_in(const std::string& text)
{
    return text.find("'ERT_GPU': ['True']") != text.npos ? "gpu:0" : "cpu";
}

Measurement blank_row(const std::string& device, Role role)
{
    Measurement row;
    row.bench = "import";
    row.role = role;
    row.device = device;
    row.seconds = Estimate<Seconds>::of(std::vector<double>{1.0});
    row.samples.emplace_back().seconds = Seconds{1.0};
    row.work.known = Known::measured;
    row.description = "A rate from roofline.json of the Empirical Roofline Tool.";
    return row;
}

}  // namespace

bool is_ert_roofline(std::string_view text)
{
    return text.find("\"empirical\"") != text.npos && text.find("\"gbytes\"") != text.npos;
}

Imported read_ert_roofline(const std::string& text, const std::string& name, const std::string&)
{
    constexpr std::size_t largest = std::size_t{1}
                                    << 20;  // a parsed value takes 16 times its bytes; the tool writes some kB
    if (text.size() > largest) throw InputError(name + ": it is larger than 1 MiB, as no file of this tool is");
    Json document;
    try {
        document = Json::parse(text);
    } catch (const Json::parse_error& error) {
        throw InputError(fmt::format("{}: byte {}: {}", name, error.byte, error.what()));
    } catch (const Json::out_of_range& error) {
        throw InputError(fmt::format("{}: a number is too large: {}", name, error.what()));
    }
    if (!document.is_object() || !document.contains("empirical") || !document.at("empirical").is_object())
        throw InputError(name + ": there is no object 'empirical'");
    const Json& empirical = document.at("empirical");
    const std::string device = device_in(text);
    Imported imported{"Empirical Roofline Tool", {{device, device.substr(0, 3), "", {}, {}, {}, {}}}, {}, {}, {}};
    for (const NamedRate& level : read_pairs(empirical, "gbytes", name)) {
        ImportedRow row{blank_row(device, Role::bandwidth)};
        row.measurement.point.set("path", level.name);
        row.measurement.work.compulsory = row.measurement.work.no_reuse = {level.per_second};
        imported.rows.push_back(std::move(row));
    }
    for (const NamedRate& peak : read_pairs(empirical, "gflops", name)) {
        ImportedRow row{blank_row(device, Role::compute)};
        row.measurement.point.set("operation", peak.name);
        if (const auto precision = value_found_in(precisions, peak.name))
            row.measurement.point.set("precision", std::string(*precision));
        else
            imported.missing.push_back("precision of '" + printable(peak.name) + "': its label names none");
        row.measurement.work.flops = {peak.per_second};
        imported.rows.push_back(std::move(row));
    }
    if (imported.rows.empty()) throw InputError(name + ": it holds no rate");
    imported.remarks.push_back(
        "Each roof is the rate of one run and has no interval; a bandwidth that is not named after a level of a cache "
        "or DRAM is a "
        "ceiling by name. The file says only in its metadata whether the device is a GPU, which `--device` names, and "
        "not on how many "
        "threads a rate was reached: tables say 1 thread.");
    return imported;
}

}  // namespace roof::analysis
