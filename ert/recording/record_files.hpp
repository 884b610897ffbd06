// The recorded files of a results folder, all optional:
//   kernels.csv  api.csv  copies.csv  memory.csv  synchronisations.csv  ranges.csv  counters.csv
// Their first column, `id`, names the row (Measurement::id()). They are read line by line.
// Each block of lines carries a checksum (ert/base/checksum.hpp); a file without is read, too. A damaged line is named,
// and the records of the rows of its block are left out of all files, because sums over the others would be too small.
#pragma once

#include "ert/base/fields.hpp"
#include "ert/recording/records.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace roof {

/// A file in the results folder, and its fields after the first column, `id`, which names the row (fields.cpp). The
/// table gives header, writer and reader.
template <class Record>
struct RecordFile {
    std::string_view name;
    std::span<const Field<Record>> fields;
};
extern const std::tuple<RecordFile<KernelRecord>, RecordFile<ApiRecord>, RecordFile<CopyRecord>,
                        RecordFile<MemoryRecord>, RecordFile<SynchronisationRecord>, RecordFile<RangeRecord>,
                        RecordFile<CounterRecord>>
    record_files;

/// Appends a line for each record of the row `id`; a new file gets its header first. Call this before the row is
/// appended to measurements.csv. On InputError (such as a full disk) the file is unchanged.
template <class Record>
void append_records(const std::filesystem::path& folder, const std::string& id, std::span<const Record> records);

/// `id` and `record` are valid until take() returns.
template <class Record>
using TakeRecord = std::function<void(const std::string& id, const Record& record)>;

/// What is wrong with the recorded files of a folder.
struct RecordDamage {
    std::vector<std::string> sentences{};           ///< each begins with file and line
    std::set<std::string, std::less<>> left_out{};  ///< the rows whose records are not read
    bool is_everywhere = false;                     ///< a header is not known: no records are read
};

/// A folder with recorded files. Its damage is that which is known of: without, damage is an error.
struct RecordedFolder {
    std::filesystem::path path;
    RecordDamage damage{};

    RecordedFolder(std::filesystem::path folder, RecordDamage known = {})  // NOLINT: a folder is one without damage
        : path(std::move(folder)), damage(std::move(known))
    {
    }
};

/// Reads all recorded files. A block that does not match its checksum leaves out its rows.
RecordDamage check_records(const std::filesystem::path& folder);

/// Calls `take` for each line of the rows that are not left out, and returns their number; 0 if there is no such file.
/// An incomplete last line is left out; a missing optional column reads as unknown. Without known damage, throws
/// InputError with the line for an invalid record, and for a block that does not match its checksum, whose records were
/// given to `take` before.
template <class Record>
std::size_t read_records(const RecordedFolder& folder, const TakeRecord<Record>& take);

/// Calls the template `call` for the type of each recorded file.
template <class Call>
void for_each_kind_of_record(const Call& call)
{
    std::apply([&]<class... Record>(const RecordFile<Record>&...) { (call.template operator()<Record>(), ...); },
               record_files);
}

}  // namespace roof
