#include "ert/recording/record_files.hpp"

#include "ert/base/checksum.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof {
namespace {

/// Lines are written in pieces of this many bytes. This avoids a write per record, and a second copy of all records.
constexpr std::size_t piece = std::size_t{8} << 20;

/// The columns of a file, and the number of the one that names the row.
template <class Record>
struct Header {
    std::size_t id{};
    Places<Record> places{};
};

/// With checksums the columns must be those of this version, in their order.
template <class Record>
Header<Record> header_in(const CsvLines& lines, const std::string& run)
{
    if (lines.number() == 0) throw InputError(lines.name() + ":1: it has no header");
    if (lines.has_checksums()) check_run(lines, run);
    const auto place = [&](std::string_view column) {
        return static_cast<std::size_t>(std::ranges::find(lines.cells(), column) - lines.cells().begin());
    };
    const auto missing = [&](std::string_view column) {
        return InputError(fmt::format("{}: it has no column '{}'", lines.where(), column));
    };
    Header<Record> header{place("id")};
    if (header.id == lines.cells().size()) throw missing("id");
    for (const Field<Record>& field : std::get<RecordFile<Record>>(record_files).fields) {
        const std::size_t at = place(field.name);
        if (at < lines.cells().size())
            header.places.emplace_back(&field, at);
        else if (field.required)
            throw missing(field.name);
    }
    const bool in_order =
        std::ranges::is_sorted(header.places, {}, &Places<Record>::value_type::second) && header.id == 0;
    const bool has_moved = !lines.has_checksums() && std::ranges::any_of(lines.cells(), [](std::string_view cell) {
        return cell.starts_with(block_column);  // it is the last column of a file that roof wrote
    });
    if (has_moved || (lines.has_checksums() && (!in_order || header.places.size() + 1 != lines.cells().size())))
        throw InputError(lines.where() + ": its columns are not those that roof writes");
    return header;
}

/// Calls `take` for each line that can be read. Calls `tell` with a sentence and the rows concerned for each line that
/// cannot, and for each block that does not match its checksum. The sentence is empty if another one told of the same
/// block.
template <class Record, class Tell>
void read_lines(CsvLines& lines, const Header<Record>& header, const TakeRecord<Record>& take, const Tell& tell)
{
    std::string id, before, damage;
    std::set<std::string> in_block;
    bool is_told = false;
    Record record;
    for (bool more = true, follows_unknown = false; more;) {
        before = id;
        id.clear();
        more = lines.next(damage);
        if (header.id < lines.cells().size()) id = lines.cells().at(header.id);
        if (more && damage.empty()) {
            if (const std::string cell = read_row(record, lines, header.places); cell.empty())
                take(id, record);
            else
                damage = lines.where() + ": " + cell;
        }
        if (!damage.empty() || follows_unknown) tell(damage, std::set{id, before});
        follows_unknown = id.empty() && !damage.empty();
        is_told = is_told || !damage.empty();
        in_block.insert(id);
        if (!lines.ends_block()) continue;
        if (const std::string block = lines.block_damage(); !block.empty())
            tell(is_told ? std::string() : block, in_block);
        in_block.clear();
        is_told = false;
    }
}

/// A file whose header is damaged is read with the one of this version if the line after it proves that.
template <class Record, class Tell>
void read_file_of(const std::filesystem::path& file, const TakeRecord<Record>& take, const Tell& tell,
                  const std::function<void(const std::string&, bool is_lost)>& tell_header)
{
    const std::string run = run_of(file.parent_path());
    Header<Record> header;
    read_lines_of(
        file, with_column(header_of(std::get<RecordFile<Record>>(record_files).fields), block_column, run),
        [&](const CsvLines& lines) { header = header_in<Record>(lines, run); },
        [&](CsvLines& lines) { read_lines(lines, header, take, tell); }, tell_header);
}

}  // namespace

template <class Record>
void append_records(const std::filesystem::path& folder, const std::string& id, std::span<const Record> records)
{
    const std::filesystem::path file = folder / std::get<RecordFile<Record>>(record_files).name;
    const auto& fields = std::get<RecordFile<Record>>(record_files).fields;
    for (auto record = records.begin(); record != records.end();) {
        std::string lines;
        for (; record != records.end() && lines.size() < piece; ++record) append_row(lines, id, *record, fields);
        append_block(file, header_of(fields), lines);
    }
}

RecordDamage check_records(const std::filesystem::path& folder)
{
    RecordDamage damage;
    DamageList sentences;
    const auto check = [&]<class Record>() {
        const std::filesystem::path file = folder / std::get<RecordFile<Record>>(record_files).name;
        if (!std::filesystem::exists(file)) return;
        read_file_of<Record>(
            file, [](const std::string&, const Record&) {},
            [&](const std::string& sentence, const std::set<std::string>& rows) {
                if (!sentence.empty()) sentences.add(sentence);
                damage.left_out.insert(rows.begin(), rows.end());
            },
            [&](const std::string& sentence, bool is_lost) {
                sentences.add(sentence);
                damage.is_everywhere = damage.is_everywhere || is_lost;
            });
    };
    for_each_kind_of_record(check);
    damage.sentences = sentences.take();
    return damage;
}

template <class Record>
std::size_t read_records(const RecordedFolder& folder, const TakeRecord<Record>& take)
{
    const std::filesystem::path file = folder.path / std::get<RecordFile<Record>>(record_files).name;
    if (!std::filesystem::exists(file) || folder.damage.is_everywhere) return 0;
    const auto refuse = [&](const std::string& damage, const auto&) {
        if (folder.damage.sentences.empty()) throw InputError(damage);
    };
    std::size_t count = 0;
    read_file_of<Record>(
        file,
        [&](const std::string& id, const Record& record) {
            if (folder.damage.left_out.contains(id)) return;
            take(id, record);
            ++count;
        },
        refuse, refuse);
    return count;
}

template void append_records(const std::filesystem::path&, const std::string&, std::span<const KernelRecord>);
template void append_records(const std::filesystem::path&, const std::string&, std::span<const ApiRecord>);
template void append_records(const std::filesystem::path&, const std::string&, std::span<const CopyRecord>);
template void append_records(const std::filesystem::path&, const std::string&, std::span<const MemoryRecord>);
template void append_records(const std::filesystem::path&, const std::string&, std::span<const SynchronisationRecord>);
template void append_records(const std::filesystem::path&, const std::string&, std::span<const RangeRecord>);
template void append_records(const std::filesystem::path&, const std::string&, std::span<const CounterRecord>);

template std::size_t read_records(const RecordedFolder&, const TakeRecord<KernelRecord>&);
template std::size_t read_records(const RecordedFolder&, const TakeRecord<ApiRecord>&);
template std::size_t read_records(const RecordedFolder&, const TakeRecord<CopyRecord>&);
template std::size_t read_records(const RecordedFolder&, const TakeRecord<MemoryRecord>&);
template std::size_t read_records(const RecordedFolder&, const TakeRecord<SynchronisationRecord>&);
template std::size_t read_records(const RecordedFolder&, const TakeRecord<RangeRecord>&);
template std::size_t read_records(const RecordedFolder&, const TakeRecord<CounterRecord>&);

}  // namespace roof
