// The recorded files of a results folder, all optional, beside its measurements:
//   kernels.csv  api.csv  copies.csv  memory.csv  synchronisations.csv  ranges.csv  counters.csv
// Their first column, `id`, is the row that was being measured (Measurement::id()). They are read line by line and never held.
#pragma once

#include "ert/recording/fields.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <istream>
#include <set>
#include <span>
#include <string>

namespace roof {

/// Appends a line for each record of the row `id`; a file that is not there gets its header. Do so before the row itself is
/// appended to measurements.csv, which makes it count. Throws InputError (a full disk) with the file as it was.
template <class Record>
void append_records(const std::filesystem::path& folder, const std::string& id, std::span<const Record> records);

/// `id` and `record` are valid until take() returns; the same record is filled again for the next line.
template <class Record>
using TakeRecord = std::function<void(const std::string& id, const Record& record)>;

/// Calls `take` for each line and returns their number. `name` stands in messages. A last line that was cut off is left out, an
/// optional column that is missing reads as not known. Throws InputError with the line for what is no such record.
template <class Record>
std::size_t read_records(std::istream& csv, const std::string& name, const TakeRecord<Record>& take);

/// Of a results folder; 0 if it holds no such file.
template <class Record>
std::size_t read_records(const std::filesystem::path& folder, const TakeRecord<Record>& take);

/// Leaves out of all recorded files of the folder the lines of rows that do not count, as a run that was killed leaves them.
/// Throws InputError for a file with other columns than ours, which nothing could be appended to.
void mend_records(const std::filesystem::path& folder, const std::set<std::string>& counting);

}  // namespace roof
