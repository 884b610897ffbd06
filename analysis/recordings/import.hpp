// A file of another tool, known by its content, and the results folder it becomes: one like any other, which `roof report` and
// `roof compare` read.
#pragma once

#include "analysis/recordings/imported.hpp"

#include <filesystem>
#include <string>

namespace roof::analysis {

/// The row is named for the file, unless `row` names it. Throws InputError for a file of no format that is known, and for one that is
/// wrong or cut off, with its line, byte or table.
Imported import_file(const std::filesystem::path& file, const std::string& row = "");

/// Writes machine.yaml, plan.yaml, measurements.csv and the recorded files that have records. `machine` names the machine the
/// files come from: a folder is of one machine. Throws InputError if the folder holds another import, and for two rows of one
/// name.
void write_import(const std::filesystem::path& folder, const std::vector<Imported>& files, const std::string& machine);

}  // namespace roof::analysis
