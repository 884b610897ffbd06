#include "analysis/recordings/import.hpp"

#include "ert/base/compressed.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/results/results.hpp"
#include "ert/recording/record_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>

namespace roof::analysis {

namespace {

struct Format {
    bool (*is)(std::string_view text);
    Imported (*read)(const std::string& text, const std::string& name, const std::string& row);
};

/// In the order of the checks: perf's lines are also JSON, so perf comes first.
constexpr std::array formats{Format{is_perf_stat, read_perf_stat}, Format{is_nsight_compute, read_nsight_compute},
                             Format{is_likwid, read_likwid},       Format{is_ert_roofline, read_ert_roofline},
                             Format{is_kineto, read_kineto},       Format{is_key_averages, read_key_averages}};

Machine machine_of(const std::vector<Imported>& files, const std::string& name)
{
    Machine machine;
    machine.name = name;
    for (const Imported& file : files)
        for (const Device& device : file.devices) {
            const auto known = std::ranges::find(machine.devices, device.name, &Device::name);
            if (known == machine.devices.end())
                machine.devices.push_back(device);
            else if (known->model.empty())
                known->model = device.model;
        }
    return machine;
}

/// Reads enough bytes to recognize a database.
std::string first_bytes(const std::filesystem::path& file)
{
    std::ifstream in = open_to_read(file);
    std::string bytes(16, '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(in.gcount()));
    return bytes;
}

/// A plan that describes the import. It cannot be run.
std::string plan_of(const std::vector<Imported>& files)
{
    std::string plan = "name: import\ndescription: measured by other tools, and imported\n";
    for (const Imported& file : files)
        plan += fmt::format("# {}: {} row{}\n", file.format, file.rows.size(), file.rows.size() == 1 ? "" : "s");
    return plan;
}

void write_row(RunDirectory& run, const Imported& file, const ImportedRow& row)
{
    const std::string id = row.measurement.id();
    const auto append = [&]<class... Record>(const std::vector<Record>&... records) {
        (append_records<Record>(run.folder(), id, records), ...);
    };
    append(row.kernels, row.calls, row.copies, row.memory, row.waits, row.ranges, row.counters);
    Measurement measurement = row.measurement;
    std::vector<std::string> remarks{"imported from " + file.format};
    for (const std::string& missing : file.missing) remarks.push_back("missing: " + missing);
    remarks.insert(remarks.end(), file.remarks.begin(), file.remarks.end());
    measurement.remarks = join(remarks, "; ");
    run.append(measurement);
}

}  // namespace

Imported import_file(const std::filesystem::path& file, const std::string& row)
{
    const std::string name = file.string(), row_name = row.empty() ? file.stem().string() : row;
    const std::string begin = first_bytes(file);
    if (is_nsight_systems(begin)) return read_nsight_systems(file, row_name);
    std::string text = read_file(file);
    if (is_compressed(text)) text = decompressed(text, name, largest_text);
    for (const Format& format : formats)
        if (format.is(text)) return format.read(text, name, row_name);
    if (const std::string error = error_of_nsight_compute(text); !error.empty())
        throw InputError(name + ": Nsight Compute counted nothing: " + error);
    throw InputError(
        name +
        ": the format is unknown. Known formats: Nsight Compute's CSV, Nsight Systems' SQLite "
        "export, PyTorch's trace and its table of operators, `perf stat -j` and `-x`, likwid-perfctr's CSV, the "
        "Empirical Roofline Tool's "
        "roofline.json");
}

void write_import(const std::filesystem::path& folder, const std::vector<Imported>& files, const std::string& machine)
{
    std::set<std::string> ids;
    for (const Imported& file : files)
        for (const ImportedRow& row : file.rows)
            if (!ids.insert(row.measurement.id()).second)
                throw InputError("two rows are called '" + printable(row.measurement.id()) +
                                 "'; import the files one by one with --name");
    RunDirectory run(folder, plan_of(files), machine_of(files, machine));
    if (!run.done().empty()) throw InputError(folder.string() + " holds an import already; give --out another folder");
    for (const Imported& file : files)
        for (const ImportedRow& row : file.rows) write_row(run, file, row);
    run.close();
}

}  // namespace roof::analysis
