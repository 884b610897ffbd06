// The field tables of the recorded files: one table is header, writer and reader. Fields append to a line and read from a view of one,
// so that a million records are read without a string per cell.
#pragma once

#include "ert/recording/records.hpp"

#include <span>
#include <string>
#include <string_view>

namespace roof {

template <class Record>
struct Field {
    std::string_view name;  ///< of the column; carries the unit
    bool required;          ///< a file without it cannot be read
    void (*write)(const Record&, std::string& line);
    void (*read)(Record&, std::string_view cell);  ///< throws Error if the cell is no such value
};

/// Name of the file in the results folder, and its fields after the first column, `id`: the row's.
template <class Record>
std::string_view file_of();
template <class Record>
std::span<const Field<Record>> fields_of();

}  // namespace roof
