// Calibrations of a simulated machine, in this process: by the whole command `roof calibrate`, or by the same
// functions. Several are looks at one machine at different times, each of which is judged together with those before
// it.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"
#include "tests/zoo/world.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace roof::zoo {

struct Calibration {
    Model model;
    std::shared_ptr<World> world;  ///< after the last calibration
    Ceilings ceilings;             ///< as every other command reads them from the last results folder
    std::size_t rows = 0;          ///< of all
    float seconds = 0;             ///< of the longest
    std::optional<int> status;     ///< of the command: the first that is not 0
    std::string out;               ///< of the last, as `err`
    std::string err;
};

/// `looks`: calibrations of the machine. `folder`: where the results are written, and removed again. Throws what
/// reading them back throws.
Calibration calibrate(const Kind& kind, std::uint64_t seed, const std::filesystem::path& folder, int looks = 1);

/// Plan, scheduler, measuring loop, fit and file of looks as the command calls them, without results folder, tables and
/// exit status. Twice as fast; a test holds it against the command. With `looks` 0 one calibration judges alone, as in
/// folders without looks.
Calibration calibrate_without_command(const Kind& kind, std::uint64_t seed, const std::filesystem::path& folder,
                                      int looks = 1, const std::string& plan = "calibrate/cpu");

}  // namespace roof::zoo
