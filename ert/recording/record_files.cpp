#include "ert/recording/record_files.hpp"

#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/files.hpp"
#include "ert/recording/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <unordered_set>
#include <utility>
#include <vector>

namespace roof {
namespace {

/// Lines are written in pieces of this many bytes. This avoids a write per record, and a second copy of all records.
constexpr std::size_t piece = std::size_t{8} << 20;

template <class Record>
std::string header()
{
    std::string line = "id";
    for (const Field<Record>& field : fields_of<Record>()) line.append(",").append(field.name);
    return line + "\n";
}

template <class Record>
struct Places {
    std::size_t id = 0;
    std::vector<std::pair<const Field<Record>*, std::size_t>> fields;
};

template <class Record>
Places<Record> places_in(const CsvLines& lines)
{
    const auto place = [&](std::string_view column) {
        return static_cast<std::size_t>(std::ranges::find(lines.cells(), column) - lines.cells().begin());
    };
    const auto missing = [&](std::string_view column) {
        return InputError(fmt::format("{}: it has no column '{}'", lines.name(), column));
    };
    Places<Record> places;
    places.id = place("id");
    if (places.id == lines.cells().size()) throw missing("id");
    for (const Field<Record>& field : fields_of<Record>()) {
        const std::size_t at = place(field.name);
        if (at < lines.cells().size())
            places.fields.emplace_back(&field, at);
        else if (field.required)
            throw missing(field.name);
    }
    return places;
}

template <class Record>
void read_record(Record& record, const CsvLines& lines, const Places<Record>& places)
{
    for (const auto& [field, place] : places.fields) {
        try {
            field->read(record, lines.cells()[place]);
        } catch (const Error& error) {
            throw InputError(fmt::format("{}: column {}: {}", lines.where(), field->name, error.what()));
        }
    }
}

/// The first cell of the line, with its quotes.
std::string first_cell(const std::string& line)
{
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"') quoted = !quoted;
        if (line[i] == ',' && !quoted) return line.substr(0, i);
    }
    return line;
}

/// `cells`: the cells of the valid rows.
template <class Record>
void mend_file(const std::filesystem::path& folder, const std::unordered_set<std::string>& cells)
{
    const std::filesystem::path file = folder / file_of<Record>();
    std::ifstream csv(file, std::ios::binary);
    std::string line, kept = header<Record>();
    if (!std::getline(csv, line)) return;
    if (!csv.eof() && line + "\n" != kept)
        throw InputError(file.string() +
                         " was written by another version of roof: its columns differ; give --out another folder");
    bool whole = !csv.eof();
    while (std::getline(csv, line)) {
        const bool counts = !csv.eof() && cells.contains(first_cell(line));
        if (counts) kept.append(line).append("\n");
        whole = whole && counts;
    }
    if (!whole) write_file(file, kept);
}

}  // namespace

template <class Record>
void append_records(const std::filesystem::path& folder, const std::string& id, std::span<const Record> records)
{
    if (records.empty()) return;
    const std::filesystem::path file = folder / file_of<Record>();
    std::error_code none;
    const bool fresh = !std::filesystem::exists(file) || std::filesystem::file_size(file, none) == 0;
    std::string first;
    cells::write(first, id);
    std::string lines = fresh ? header<Record>() : "";
    for (const Record& record : records) {
        lines += first;
        for (const Field<Record>& field : fields_of<Record>()) {
            lines += ',';
            field.write(record, lines);
        }
        lines += '\n';
        if (lines.size() < piece) continue;
        append_file(file, lines);
        lines.clear();
    }
    if (!lines.empty()) append_file(file, lines);
}

template <class Record>
std::size_t read_records(std::istream& csv, const std::string& name, const TakeRecord<Record>& take)
{
    CsvLines lines(csv, name);
    if (!lines.next()) throw InputError(name + ": it is empty");
    const Places<Record> places = places_in<Record>(lines);
    const std::size_t width = lines.cells().size();
    std::size_t count = 0;
    std::string id;
    Record record;
    for (; lines.next(); ++count) {
        if (lines.cells().size() != width)
            throw InputError(fmt::format("{}: {} cells, not {}", lines.where(), lines.cells().size(), width));
        id.assign(lines.cells()[places.id]);
        read_record(record, lines, places);
        take(id, record);
    }
    return count;
}

template <class Record>
std::size_t read_records(const std::filesystem::path& folder, const TakeRecord<Record>& take)
{
    const std::filesystem::path file = folder / file_of<Record>();
    std::ifstream csv(file, std::ios::binary);
    return csv ? read_records<Record>(csv, file.string(), take) : 0;
}

void repair_records(const std::filesystem::path& folder, const std::set<std::string>& complete)
{
    std::unordered_set<std::string> ids;
    for (const std::string& id : complete) {
        std::string cell;
        cells::write(cell, id);
        ids.insert(std::move(cell));
    }
    mend_file<KernelRecord>(folder, ids);
    mend_file<ApiRecord>(folder, ids);
    mend_file<CopyRecord>(folder, ids);
    mend_file<MemoryRecord>(folder, ids);
    mend_file<SynchronisationRecord>(folder, ids);
    mend_file<RangeRecord>(folder, ids);
    mend_file<CounterRecord>(folder, ids);
}

template void append_records(const std::filesystem::path&, const std::string&, std::span<const KernelRecord>);
template void append_records(const std::filesystem::path&, const std::string&, std::span<const ApiRecord>);
template void append_records(const std::filesystem::path&, const std::string&, std::span<const CopyRecord>);
template void append_records(const std::filesystem::path&, const std::string&, std::span<const MemoryRecord>);
template void append_records(const std::filesystem::path&, const std::string&, std::span<const SynchronisationRecord>);
template void append_records(const std::filesystem::path&, const std::string&, std::span<const RangeRecord>);
template void append_records(const std::filesystem::path&, const std::string&, std::span<const CounterRecord>);

template std::size_t read_records(std::istream&, const std::string&, const TakeRecord<KernelRecord>&);
template std::size_t read_records(std::istream&, const std::string&, const TakeRecord<ApiRecord>&);
template std::size_t read_records(std::istream&, const std::string&, const TakeRecord<CopyRecord>&);
template std::size_t read_records(std::istream&, const std::string&, const TakeRecord<MemoryRecord>&);
template std::size_t read_records(std::istream&, const std::string&, const TakeRecord<SynchronisationRecord>&);
template std::size_t read_records(std::istream&, const std::string&, const TakeRecord<RangeRecord>&);
template std::size_t read_records(std::istream&, const std::string&, const TakeRecord<CounterRecord>&);

template std::size_t read_records(const std::filesystem::path&, const TakeRecord<KernelRecord>&);
template std::size_t read_records(const std::filesystem::path&, const TakeRecord<ApiRecord>&);
template std::size_t read_records(const std::filesystem::path&, const TakeRecord<CopyRecord>&);
template std::size_t read_records(const std::filesystem::path&, const TakeRecord<MemoryRecord>&);
template std::size_t read_records(const std::filesystem::path&, const TakeRecord<SynchronisationRecord>&);
template std::size_t read_records(const std::filesystem::path&, const TakeRecord<RangeRecord>&);
template std::size_t read_records(const std::filesystem::path&, const TakeRecord<CounterRecord>&);

}  // namespace roof
