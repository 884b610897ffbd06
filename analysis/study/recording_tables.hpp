// The recordings of a run, for a terminal. The tables themselves are in tables.hpp.
#pragma once

#include "analysis/study/study.hpp"

#include <string>
#include <string_view>

namespace roof::analysis {

/// A share of unclassified kernel time above this is marked as a warning.
inline constexpr double most_unclassified = 0.02;

/// All tables of recordings, each under its title, in at most `width` columns; 0: unlimited. Empty without recordings.
std::string recording_text(const Study& study, int width);

/// Whether the results folder holds this recorded file, such as "kernels.csv".
bool has_recording(const Study& study, std::string_view file);

}  // namespace roof::analysis
