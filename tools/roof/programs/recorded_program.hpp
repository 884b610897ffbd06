// Converts the files of the injected recorder into a results folder: a row for each process that used a GPU, with its
// kernels, calls and copies.
#pragma once

#include "ert/method/bench/measurement.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace roof {

/// Reads the folders process-* in `folder`, appends their records to the recorded files of `folder` under the id of
/// their row, and removes them. Returns the rows; the caller appends them to the measurements. `program`: the model's
/// name in the rows. The time of a row is the median of the steps that the program marked, or the whole recorded time
/// without marks. If no process recorded anything, there is one row with status unsupported and the reason.
std::vector<Measurement> gather_recording(const std::filesystem::path& folder, const std::string& program);

}  // namespace roof
