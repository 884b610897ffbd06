// What a sweep and a report say of a study in a terminal.
#pragma once

#include "analysis/study/study.hpp"

#include <ostream>

namespace roof {

struct Print {
    int columns = 80;    ///< of the drawings
    int width = 0;       ///< of the tables; 0: as wide as they are, as in a pipe
    bool plain = true;   ///< ASCII only
    bool brief = false;  ///< the verdict and the expectations alone
};

/// Verdict, expectations, batch trajectories, kinds of layer, the layers with the most time to win, roofline.
void print_study(const analysis::Study& study, const Print& print, std::ostream& out);

}  // namespace roof
