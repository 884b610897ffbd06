// `roof import`: converts files of other tools into a results folder.
#include "analysis/recordings/import.hpp"

#include "analysis/table/quantities.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace roof {
namespace {

struct ImportOptions {
    OptionParser& parser;
    std::vector<std::string>& files = parser.list("FILE");
    std::string& out = parser.value("--out");
    std::string& name = parser.value("--name");
    std::string& machine = parser.value("--machine", "imported");
    std::string& device = parser.value("--device");
    bool& json = parser.flag("--json");
};

void rename_device(analysis::Imported& imported, const std::string& device)
{
    if (imported.devices.size() != 1)
        throw InputError("--device names one device, and the file has " + std::to_string(imported.devices.size()));
    imported.devices.front().name = device;
    imported.devices.front().kind = device.substr(0, device.find(':'));
    for (analysis::ImportedRow& row : imported.rows) {
        row.measurement.device = device;
        for (KernelRecord& kernel : row.kernels) kernel.cause.device = device;
        for (CopyRecord& copy : row.copies) copy.cause.device = device;
        for (CounterRecord& counter : row.counters) counter.device = device;
    }
}

std::string summary(const std::string& file, const analysis::Imported& imported)
{
    std::string text = fmt::format("{}: {}\n", printable(file), imported.format);
    for (const analysis::ImportedRow& row : imported.rows)
        text +=
            fmt::format("  {}: {}, {}, {}, {}\n", printable(row.measurement.id()),
                        analysis::how_many(row.kernels.size(), "kernel"), analysis::how_many(row.calls.size(), "call"),
                        row.copies.size() == 1 ? "1 copy" : fmt::format("{} copies", row.copies.size()),
                        analysis::how_many(row.counters.size(), "counter"));
    for (const std::string& missing : imported.missing)
        text += "  missing for a point on a roofline: " + printable(missing) + "\n";
    for (const std::string& remark : imported.remarks) text += "  " + printable(remark) + "\n";
    return text;
}

nlohmann::json summary_json(const std::string& file, const analysis::Imported& imported)
{
    nlohmann::json rows = nlohmann::json::array();
    for (const analysis::ImportedRow& row : imported.rows)
        rows.push_back({{"id", row.measurement.id()},
                        {"kernels", row.kernels.size()},
                        {"calls", row.calls.size()},
                        {"copies", row.copies.size()},
                        {"counters", row.counters.size()}});
    return {{"file", file},
            {"format", imported.format},
            {"rows", rows},
            {"missing", imported.missing},
            {"remarks", imported.remarks}};
}

int import_files(const ImportOptions& options, Context& context)
{
    if (!options.name.empty() && options.files.size() > 1)
        throw InputError("--name names the row of one file; import them one by one");
    const std::vector<std::string> kinds{"cpu", "gpu"};
    const std::string kind = options.device.substr(0, options.device.find(':'));
    if (!options.device.empty() && std::ranges::find(kinds, kind) == kinds.end())
        throw InputError(unknown_word("device", options.device, kinds));
    std::vector<analysis::Imported> all;
    for (const std::string& file : options.files) {
        all.push_back(analysis::import_file(file, options.name));
        if (!options.device.empty()) rename_device(all.back(), options.device);
    }
    std::filesystem::path folder = options.out;
    if (folder.empty()) {
        say_where_results_are(context);
        folder = context.results / options.machine / std::filesystem::path(options.files.front()).stem();
    }
    analysis::write_import(folder, all, options.machine);
    nlohmann::json files = nlohmann::json::array();
    for (std::size_t i = 0; i < all.size(); ++i) {
        files.push_back(summary_json(options.files[i], all[i]));
        if (!options.json) context.out << in_window(summary(options.files[i], all[i]), context.terminal);
    }
    if (options.json)
        print_json(context.out, {{"files", files}, {"folder", folder.string()}});
    else
        context.out << folder.string() << '\n';
    return 0;
}

}  // namespace

Action import(OptionParser& parser)
{
    return [options = ImportOptions{parser}](Context& context) { return import_files(options, context); };
}

}  // namespace roof
