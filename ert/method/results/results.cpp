#include "ert/method/results/results.hpp"

#include "ert/base/csv.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace roof {
namespace {

constexpr const char* measurements_file = "measurements.csv";
constexpr const char* samples_file = "samples.csv";
constexpr const char* layers_file = "layers.csv";
/// The first line of machine.yaml. The number changes when columns or keys are renamed.
constexpr const char* format_line = "format: 2\n";

template <class Row>
std::string header_line(const std::vector<Column<Row>>& columns)
{
    std::vector<std::string> cells{"id"};
    for (const auto& column : columns) cells.push_back(column.name);
    return csv_line(cells);
}

template <class Row>
std::string row_line(const std::string& id, const Row& row, const std::vector<Column<Row>>& columns)
{
    std::vector<std::string> cells{id};
    for (const auto& column : columns) cells.push_back(column.write(row));
    return csv_line(cells);
}

/// Calls `take(id, row)` for each line. Missing columns keep their default.
template <class Row, class Take>
void read_rows(const std::filesystem::path& file, const std::vector<Column<Row>>& columns, const Take& take)
{
    const CsvTable table = parse_csv(read_file(file), file.string());
    if (table.header.empty()) return;
    const std::size_t id = table.column("id");
    std::vector<std::pair<const Column<Row>*, std::size_t>> places;
    for (const auto& column : columns) {
        if (table.has(column.name)) places.emplace_back(&column, table.column(column.name));
    }
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
        Row row;
        for (const auto& [column, place] : places) {
            try {
                column->read(row, table.rows[r][place]);
            } catch (const Error& error) {
                throw InputError(
                    fmt::format("{}: row {}, column {}: {}", file.string(), r + 2, column->name, error.what()));
            }
        }
        take(table.rows[r][id], std::move(row));
    }
}

/// Appends a line for each row in a single write, with the header first if the file is missing or empty.
template <class Row>
void append_rows(const std::filesystem::path& file, const std::vector<Column<Row>>& columns, const std::string& id,
                 std::span<const Row> rows)
{
    if (rows.empty()) return;
    std::error_code none;
    const bool fresh = !std::filesystem::exists(file) || std::filesystem::file_size(file, none) == 0;
    std::string lines = fresh ? header_line(columns) : "";
    for (const Row& row : rows) lines += row_line(id, row, columns);
    append_file(file, lines);
}

/// Removes an incomplete last line and the lines of incomplete rows. Checks the header.
template <class Row>
void repair_file(const std::filesystem::path& file, const std::vector<Column<Row>>& columns,
                 const std::set<std::string>* complete)
{
    if (!std::filesystem::exists(file)) return;
    const std::string text = read_file(file);
    const CsvTable table = parse_csv(text, file.string());
    if (!table.header.empty() && csv_line(table.header) != header_line(columns)) {
        throw InputError(file.string() +
                         " was written by another version of roof: its columns differ; give --out another folder");
    }
    std::string kept = table.header.empty() ? "" : header_line(columns);
    for (const auto& row : table.rows) {
        if (complete == nullptr || complete->contains(row.front())) kept += csv_line(row);
    }
    if (kept != text) write_file(file, kept);
}

std::set<std::string> ids_in(const std::filesystem::path& file)
{
    std::set<std::string> ids;
    if (!std::filesystem::exists(file)) return ids;
    const CsvTable table = parse_csv(read_file(file), file.string());
    if (table.header.empty()) return ids;
    for (const auto& row : table.rows) ids.insert(row[table.column("id")]);
    return ids;
}

void keep_document(const std::filesystem::path& file, const std::string& content)
{
    if (!std::filesystem::exists(file)) write_file(file, content);
}

}  // namespace

RunDirectory::RunDirectory(std::filesystem::path folder, const std::string& plan_text, const Machine& machine)
    : folder_(std::move(folder))
{
    make_folder(folder_);
    lock_.emplace(folder_);
    const std::filesystem::path plan_file = folder_ / "plan.yaml";
    if (std::filesystem::exists(plan_file) && read_file(plan_file) != plan_text) {
        throw InputError(folder_.string() +
                         " holds the results of another plan (see its plan.yaml); give --out another folder");
    }
    const std::filesystem::path machine_file = folder_ / "machine.yaml";
    if (std::filesystem::exists(machine_file)) {
        const std::string other = read_machine_of(folder_).name;
        if (other != machine.name)
            throw InputError(folder_.string() + " holds rows of another machine, " + printable(other));
    }
    keep_document(plan_file, plan_text);
    keep_document(machine_file, format_line + YAML::Dump(to_yaml(machine)) + "\n");
    repair();
}

void RunDirectory::repair()
{
    repair_file(folder_ / measurements_file, measurement_columns(), nullptr);
    done_ = ids_in(folder_ / measurements_file);
    repair_file(folder_ / samples_file, sample_columns(), &done_);
    repair_file(folder_ / layers_file, part_columns(), &done_);
}

void RunDirectory::append(const Measurement& row)
{
    const std::string id = row.id();
    append_rows<Sample>(folder_ / samples_file, sample_columns(), id, row.samples);
    append_rows<PartMeasurement>(folder_ / layers_file, part_columns(), id, row.parts);
    append_rows<Measurement>(folder_ / measurements_file, measurement_columns(), id, {&row, 1});
    done_.insert(id);
}

Machine read_machine_of(const std::filesystem::path& folder)
{
    const std::filesystem::path file = folder / "machine.yaml";
    if (!read_file(file).starts_with(format_line))
        throw InputError(folder.string() +
                         " holds results of an older format, which this version of roof does not read; measure again");
    return read_machine(file);
}

Results read_results(const std::filesystem::path& folder)
{
    if (!std::filesystem::is_directory(folder)) throw InputError("there is no results folder " + folder.string());
    Results results;
    results.folder = folder;
    results.machine = read_machine_of(folder);
    if (std::filesystem::exists(folder / "plan.yaml")) results.plan = read_file(folder / "plan.yaml");
    std::map<std::string, std::size_t> index;
    read_rows<Measurement>(folder / measurements_file, measurement_columns(),
                           [&](const std::string& id, Measurement row) {
                               index[id] = results.rows.size();
                               results.rows.push_back(std::move(row));
                           });
    // Lines without a row are from a run that was killed or is still writing.
    const auto row_of = [&](const std::string& id) {
        const auto found = index.find(id);
        return found == index.end() ? nullptr : &results.rows[found->second];
    };
    if (std::filesystem::exists(folder / samples_file)) {
        read_rows<Sample>(folder / samples_file, sample_columns(), [&](const std::string& id, const Sample& sample) {
            if (Measurement* row = row_of(id)) row->samples.push_back(sample);
        });
    }
    if (std::filesystem::exists(folder / layers_file)) {
        read_rows<PartMeasurement>(folder / layers_file, part_columns(),
                                   [&](const std::string& id, PartMeasurement part) {
                                       if (Measurement* row = row_of(id)) row->parts.push_back(std::move(part));
                                   });
    }
    return results;
}

}  // namespace roof
