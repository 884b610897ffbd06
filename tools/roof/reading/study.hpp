// Opens a results folder as a study under the right calibration, and prints it in a terminal.
#pragma once

#include "analysis/study/study.hpp"
#include "tools/roof/console/context.hpp"

#include <filesystem>
#include <ostream>
#include <vector>

namespace roof {

/// The runs in `folder` and in its folders, the newest first by their names, which begin with the date.
std::vector<std::filesystem::path> runs_below(const std::filesystem::path& folder);

/// Opens `folder` under `calibration`; if that is empty, under the newest calibration beside the folder, else under the
/// newest of the folder's machine in `Context::results`. Damage of either folder is
/// told on `context.err` and sets `context.status` to 1.
analysis::Study open_with_calibration(const std::filesystem::path& folder, const std::filesystem::path& calibration,
                                      Context& context);

/// The first line of what a command says: the study's calibration and how good it is. Nothing without one.
void print_calibration_line(const analysis::Study& study, int width, std::ostream& out);

struct PrintOptions {
    int columns = 80;    ///< width of the drawings
    int width = 0;       ///< width of the tables; 0: unlimited, as in a pipe
    bool plain = true;   ///< ASCII only
    bool brief = false;  ///< only the verdict and the predictions
};

/// Prints verdict, predictions, batch trajectories, kinds of layer, the layers with the most headroom, and roofline.
void print_study(const analysis::Study& study, const PrintOptions& options, std::ostream& out);

}  // namespace roof
