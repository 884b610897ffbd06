// Imports a file of another tool into a results folder, which `roof report` and `roof compare` read like any other.
#pragma once

#include "analysis/recordings/imported.hpp"

#include <filesystem>
#include <string>

namespace roof::analysis {

/// The format is recognized by content. The row is named after the file unless `row` is given. Throws InputError for
/// an unknown format, and for a malformed or truncated file with line, byte or table.
Imported import_file(const std::filesystem::path& file, const std::string& row = "");

/// Writes machine.yaml, plan.yaml, measurements.csv and the recorded files that have records. `machine` is the name of
/// the machine of the files. Throws InputError if the folder has another import, and for two rows of one name.
void write_import(const std::filesystem::path& folder, const std::vector<Imported>& files, const std::string& machine);

}  // namespace roof::analysis
