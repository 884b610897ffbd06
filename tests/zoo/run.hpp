// Runs calibrations of kinds of machines on several threads, and adds up their verdicts.
#pragma once

#include "tests/zoo/tally.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

namespace roof::zoo {

/// The seed of a kind's calibration with that number, from the seed of the run. Equal on every machine.
std::uint64_t seed_of(std::uint64_t seed, const Kind& kind, std::size_t number);

struct Run {
    std::vector<const Kind*> kinds;
    std::size_t machines = 1;  ///< of each kind
    std::uint64_t seed = 1;
    int threads = 1;
    std::size_t command_every =
        1;  ///< each so-many-th calibration of a kind runs the command, the others the same functions
    std::function<void(const Kind& kind, std::uint64_t seed, const Calibration&, const Verdict&)>
        each{};                          ///< by one thread at a time
    std::string plan = "calibrate/cpu";  ///< by another than this one no calibration runs the command
    int looks = 2;                       ///< calibrations of each machine; 0: one, which judges alone
};

/// Where results folders cost least: in memory where the system has that, since each row is flushed to its file.
std::filesystem::path fast_folder();

/// One tally for each kind, in their order.
std::vector<Tally> run(const Run& run);

}  // namespace roof::zoo
