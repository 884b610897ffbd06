// The steps of a training run as they happen, in the form PyTorch's ImageNet example prints them.
#pragma once

#include "tools/roof/session/session.hpp"

#include <ostream>

namespace roof {

/// `steps`: how many there will be; 0 if the stopping rule decides. `err` must outlive the listener.
Listener training_log(std::ostream& err, int steps);

}  // namespace roof
