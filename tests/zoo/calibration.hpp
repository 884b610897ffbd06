// One calibration of a simulated machine: the whole command `roof calibrate`, in this process.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"
#include "tests/zoo/world.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace roof::zoo {

struct Calibration {
    Model model;
    std::shared_ptr<World> world;  ///< after the calibration
    Ceilings ceilings;             ///< as every other command reads them from the results folder
    std::size_t rows = 0;
    int status = 0;
    std::string out;
    std::string err;
};

/// `folder`: where the results are written, and removed again. Throws what reading them back throws.
Calibration calibrate(const Kind& kind, std::uint64_t seed, const std::filesystem::path& folder);

}  // namespace roof::zoo
