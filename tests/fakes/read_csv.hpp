// A CSV file as a table.
#pragma once

#include "ert/base/csv_lines.hpp"
#include "ert/base/files.hpp"

namespace roof {

inline CsvTable read_csv(const std::filesystem::path& file)
{
    return parse_csv(read_file(file), file.string());
}

}  // namespace roof
