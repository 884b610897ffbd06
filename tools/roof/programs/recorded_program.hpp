// What the injected library left of a program's processes, made rows of a results folder: a row for each process that used a GPU,
// with its kernels, calls and copies beside it.
#pragma once

#include "ert/method/bench/measurement.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace roof {

/// Reads the folders process-* in `folder`, appends what they recorded to the recorded files of `folder` under the id of their row,
/// and removes them. The rows are to be appended to the measurements afterwards. `program`: what the rows call it.
///
/// A row's time is the median of the steps that the program marked; of one that marked none, the time recorded. Without any
/// process that recorded something there is one row, unsupported, with the reason.
std::vector<Measurement> gather_recording(const std::filesystem::path& folder, const std::string& program);

}  // namespace roof
