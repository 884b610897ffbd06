#include "ert/recording/record_files.hpp"

#include "ert/base/checksum.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/recording/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
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
    for (const Field<Record>& field : RecordFile<Record>::table.fields) line.append(",").append(field.name);
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
    for (const Field<Record>& field : RecordFile<Record>::table.fields) {
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

}  // namespace

template <class Record>
void append_records(const std::filesystem::path& folder, const std::string& id, std::span<const Record> records)
{
    if (records.empty()) return;
    const std::filesystem::path file = folder / RecordFile<Record>::table.name;
    std::string first, lines;
    cells::write(first, id);
    for (const Record& record : records) {
        lines += first;
        for (const Field<Record>& field : RecordFile<Record>::table.fields) {
            lines += ',';
            field.write(record, lines);
        }
        lines += '\n';
        if (lines.size() < piece) continue;
        append_lines(file, header<Record>(), lines);
        lines.clear();
    }
    if (!lines.empty()) append_lines(file, header<Record>(), lines);
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
        if (!lines.matches())
            throw InputError(
                lines.where() +
                ": it does not match its checksum: it was changed, or a line before it is missing, repeated or moved");
        if (lines.cells().size() != width)
            throw InputError(fmt::format("{}: {} cells, not {}", lines.where(), lines.cells().size(), width));
        id.assign(lines.cells()[places.id]);
        read_record(record, lines, places);
        take(id, record);
    }
    return count;
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

}  // namespace roof
