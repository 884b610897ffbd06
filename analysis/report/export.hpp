// A study as CSV, for spreadsheets and plotting scripts: every column name carries its unit, SI throughout.
#pragma once

#include "analysis/study/study.hpp"

#include <filesystem>

namespace roof::analysis {

/// Writes placements.csv (one line per placement and memory level; one with an empty level where there are no ceilings)
/// and ceilings.csv into `folder`, making it if need be. Throws InputError if it cannot be written.
void write_csv(const Study& study, const std::filesystem::path& folder);

}  // namespace roof::analysis
