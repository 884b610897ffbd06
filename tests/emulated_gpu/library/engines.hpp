// Engines in the place of cuDNN's, behind the functions by which the engine asks for them, so that its own code chooses
// among them: each takes the time that a test says and computes with the host's loops, rightly or wrongly.
#pragma once

#include "ert/base/units.hpp"
#include "workloads/engine/ir/shapes.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace roof::emulated {

struct OfferedEngine {
    std::string name;
    Seconds seconds;             ///< of a run
    bool is_right = true;        ///< else its largest result is another
    bool runs = true;            ///< else each run is refused
    bool compiled = false;       ///< at run time
    Seconds planning{};          ///< of the host, for its plan
    std::int64_t workspace = 0;  ///< bytes
};

struct Offers {
    std::function<std::vector<OfferedEngine>(const ir::ConvolutionPass&)> convolutions;
    std::function<std::vector<OfferedEngine>(const ir::NormShape&)> norms;
    std::function<std::vector<OfferedEngine>(const ir::AttentionPass&)> attention;
    int runs = 0;  ///< of all engines so far
};

/// The offers of the process, which a test changes.
Offers& offers();

}  // namespace roof::emulated
