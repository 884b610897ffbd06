// One calibration of a simulated machine, in this process: by the whole command `roof calibrate`, or by the same functions without files.
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
    std::shared_ptr<World> world;  ///< after the calibration
    Ceilings ceilings;             ///< as every other command reads them from the results folder
    std::size_t rows = 0;
    std::optional<int> status;  ///< of the command
    std::string out;
    std::string err;
};

/// `folder`: where the results are written, and removed again. Throws what reading them back throws.
Calibration calibrate(const Kind& kind, std::uint64_t seed, const std::filesystem::path& folder);

/// Plan, scheduler, measuring loop and fit as the command calls them, without results folder, tables and exit status. Twice as fast; a test
/// holds it against the command.
Calibration calibrate_without_files(const Kind& kind, std::uint64_t seed, const std::string& plan = "calibrate/cpu");

}  // namespace roof::zoo
