// What a killed run leaves at the end of the CSV files of a results folder.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace roof {

/// Moves an unfinished last line, an unfinished block, and the lines at the end whose id is not in `done`, from each CSV file with ids and
/// checksums into the file `<name>.cut` beside it. measurements.csv loses only an unfinished line. Throws InputError.
void move_unfinished_tails(const std::filesystem::path& folder, const std::set<std::string>& done);

}  // namespace roof
