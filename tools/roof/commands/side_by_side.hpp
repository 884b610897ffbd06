// Calibrates several GPUs at once, each by a process of its own.
#pragma once

#include "ert/method/bench/measurement.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace roof {

struct SideBySide {
    std::vector<std::string> devices;    ///< "gpu:0", "gpu:1", …
    std::vector<std::string> arguments;  ///< of each process, after "roof calibrate --device NAME"
};

/// Measures the benches that are not shared on each device, all devices at once, and returns the rows that are not
/// among `done`; nullopt after an interrupt. Each process writes to a folder in `folder`, which remove_parts() removes;
/// after an accident it is continued. A device that has rows and no such folder is complete. A device whose process
/// leaves no rows has none here: the caller measures it in turn, and its rows say what is wrong. Throws Error where a
/// process cannot be started.
std::optional<std::vector<Measurement>> measure_side_by_side(const SideBySide& what,
                                                             const std::filesystem::path& folder,
                                                             const std::vector<Measurement>& done);

void remove_parts(const std::filesystem::path& folder, const std::vector<std::string>& devices);

}  // namespace roof
