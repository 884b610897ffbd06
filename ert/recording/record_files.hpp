// The recorded files of a results folder, all optional:
//   kernels.csv  api.csv  copies.csv  memory.csv  synchronisations.csv  ranges.csv  counters.csv
// Their first column, `id`, names the row (Measurement::id()). They are read line by line.
// Each line carries a checksum (ert/base/checksum.hpp); a file without is read, too.
#pragma once

#include "ert/base/files.hpp"
#include "ert/recording/fields.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <istream>
#include <span>
#include <string>

namespace roof {

/// Appends a line for each record of the row `id`; a new file gets its header first. Call this before the row is
/// appended to measurements.csv. On InputError (such as a full disk) the file is unchanged.
template <class Record>
void append_records(const std::filesystem::path& folder, const std::string& id, std::span<const Record> records);

/// `id` and `record` are valid until take() returns.
template <class Record>
using TakeRecord = std::function<void(const std::string& id, const Record& record)>;

/// Calls `take` for each line and returns their number. `name` is used in messages. An incomplete last line is left
/// out; a missing optional column reads as unknown. Throws InputError with the line for an invalid record, and for one that does not match
/// its checksum.
template <class Record>
std::size_t read_records(std::istream& csv, const std::string& name, const TakeRecord<Record>& take);

/// The same for a results folder; 0 if it has no such file.
template <class Record>
std::size_t read_records(const std::filesystem::path& folder, const TakeRecord<Record>& take)
{
    const std::filesystem::path file = folder / RecordFile<Record>::table.name;
    if (!std::filesystem::exists(file)) return 0;
    std::ifstream csv = open_to_read(file);
    return read_records<Record>(csv, file.string(), take);
}

/// Calls the template `call` for the type of each recorded file.
template <class Call>
void for_each_kind_of_record(const Call& call)
{
    const auto each = [&]<class... Record>() { (call.template operator()<Record>(), ...); };
    each.template
    operator()<KernelRecord, ApiRecord, CopyRecord, MemoryRecord, SynchronisationRecord, RangeRecord, CounterRecord>();
}

}  // namespace roof
