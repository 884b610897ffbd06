// checksums.csv: the length and the last checksum of each file of a results folder when its session ended. With the
// checksums of the lines it shows what is missing at the end of a file, and changes of plan.yaml and machine.yaml. Rows
// that a later session appends are allowed.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace roof {

inline constexpr const char* measurements_file = "measurements.csv";
inline constexpr const char* seal_file = "checksums.csv";
/// Written anew from the other files at any time (analysis/fleet/digest.hpp), so checksums.csv does not describe it.
inline constexpr const char* digest_file = "digest.csv";
/// Written anew after each run (look_file.hpp), likewise.
inline constexpr const char* looks_file = "looks.csv";

/// Of plan.yaml, machine.yaml and checksums.csv: roof writes no larger one, and anybody may have put it there.
inline constexpr std::size_t largest_document = std::size_t{16} << 20;

/// The files whose lines a row's checksum covers beside its own, in order (ert/base/checksum.hpp).
inline constexpr std::array<const char*, 2> files_of_rows{"samples.csv", "layers.csv"};

/// The CSV files of a folder, sorted.
std::vector<std::filesystem::path> csv_files_in(const std::filesystem::path& folder);

/// Accepted changes by file name: a sentence for the page.
using Edits = std::map<std::string, std::string>;

/// Writes checksums.csv for plan.yaml, machine.yaml and each CSV file with checksums. Edits that it names are kept.
void seal(const std::filesystem::path& folder, const Edits& edits = {});

struct SealCheck {
    bool has_ended = false;           ///< false: no session has ended, so that the ends of the files are not known
    std::vector<std::string> lost;    ///< files that are missing or too short: sentences that begin with the file
    std::vector<std::string> damage;  ///< all that is wrong: those, then others
    Edits edits;
};

/// Compares the folder with its checksums.csv.
SealCheck check_seal(const std::filesystem::path& folder);

}  // namespace roof
