// The field tables of the recorded files. One table gives header, writer and reader. Fields append to a line and read
// from a view of one, so that reading a million records needs no string per cell.
#pragma once

#include "ert/recording/records.hpp"

#include <span>
#include <string>
#include <string_view>

namespace roof {

template <class Record>
struct Field {
    std::string_view name;  ///< of the column, including the unit
    bool required;          ///< a file without it cannot be read
    void (*write)(const Record&, std::string& line);
    void (*read)(Record&, std::string_view cell);  ///< throws Error for an invalid cell
};

/// A file in the results folder, and its fields after the first column, `id`, which names the row.
template <class Record>
struct RecordFile {
    std::string_view name;
    std::span<const Field<Record>> fields;

    static const RecordFile table;
};

}  // namespace roof
