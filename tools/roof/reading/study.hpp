// A results folder as a study: opened under the right calibration, and printed in a terminal.
#pragma once

#include "analysis/study/study.hpp"
#include "tools/roof/console/context.hpp"

#include <filesystem>
#include <ostream>

namespace roof {

/// Opens `folder` under `calibration`; if that is empty, under the newest calibration beside the folder, else the newest of the
/// folder's machine among `Context::results`. The hypotheses of its plan are answered.
analysis::Study open_with_calibration(const std::filesystem::path& folder, const std::filesystem::path& calibration,
                                      const Context& context);

struct PrintOptions {
    int columns = 80;    ///< of the drawings
    int width = 0;       ///< of the tables; 0: unlimited, as in a pipe
    bool plain = true;   ///< ASCII only
    bool brief = false;  ///< only the verdict and the expectations
};

/// Verdict, expectations, batch trajectories, kinds of layer, the layers with the most headroom, roofline.
void print_study(const analysis::Study& study, const PrintOptions& options, std::ostream& out);

}  // namespace roof
