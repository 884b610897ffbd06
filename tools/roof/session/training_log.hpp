// Prints the steps of a training run as they happen, in the format of PyTorch's ImageNet example.
#pragma once

#include "tools/roof/session/session.hpp"

#include <ostream>

namespace roof {

/// `steps`: the number of steps; 0 if the stopping rule decides. `err` must outlive the listener.
Listener training_log(std::ostream& err, int steps, const Terminal& terminal = {});

}  // namespace roof
