// The settings that `roof profile` passes to the injected library, as environment variables.
#pragma once

#include "ert/cupti/injection/window.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace roof::cupti {

/// ROOF_PROFILE_FOLDER, ROOF_PROFILE_WINDOW ("whole", or "AFTER LENGTH" in seconds), ROOF_PROFILE_RANGE,
/// ROOF_PROFILE_COUNTERS (a file with a line for each chip: its name and the metrics to count), ROOF_PROFILE_KERNELS.
struct Settings {
    std::filesystem::path folder;  ///< each process writes into a folder of its own in it
    WindowOptions window;
    std::string range;  ///< record only within ranges of that name; empty: everything
    std::map<std::string, std::vector<std::string>> metrics{};  ///< to count, by chip; empty: nothing is counted
    std::size_t kernels = 2000;                                 ///< to count at most
};

/// Throws InputError if no folder is named, or a value is wrong.
Settings settings_from_environment();

}  // namespace roof::cupti
