// Calibrates several GPUs at once, each by a process of its own.
#pragma once

#include "ert/method/bench/measurement.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace roof {

/// The benches whose launches use what the GPUs of a node share: the buses to the host and between GPUs, and the host. Measured at once
/// they would disturb each other. All other benches of a GPU run inside it; what they share is the power and the air of the node, as a
/// training step over all GPUs does.
const std::vector<std::string>& shared_benches();

struct SideBySide {
    std::vector<std::string> devices;    ///< "gpu:0", "gpu:1", …
    std::vector<std::string> arguments;  ///< of each process, after "roof calibrate --device NAME"
};

/// Measures the benches that are not shared on each device, all devices at once, and returns the rows that are not among `done`; nullopt after an
/// interrupt. Each process
/// writes to a folder in `folder`, which remove_parts() removes; after an accident it is continued. A device that has rows and no such folder
/// is complete. A device whose process leaves no rows has none here: the caller measures it in turn, and its rows say what is wrong. Throws
/// Error where a process cannot be started.
std::optional<std::vector<Measurement>> measure_side_by_side(const SideBySide& what,
                                                             const std::filesystem::path& folder,
                                                             const std::vector<Measurement>& done);

void remove_parts(const std::filesystem::path& folder, const std::vector<std::string>& devices);

}  // namespace roof
