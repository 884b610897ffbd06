// Progress on standard error. On a terminal: one line, redrawn, and erased at the end. Elsewhere: a line per finished
// row, or a line per tenth of a long list, with unsupported rows by reason at the end. Failed rows always have a line.
#pragma once

#include "tools/roof/console/context.hpp"
#include "tools/roof/session/session.hpp"

#include <ostream>

namespace roof {

/// The context must outlive the listener.
Listener progress(const Context& context);

// The steps of a training run as they happen, in the format of PyTorch's ImageNet example.

/// `steps`: the number of steps; 0 if the stopping rule decides. `err` must outlive the listener.
Listener training_log(std::ostream& err, int steps, const Terminal& terminal = {});

}  // namespace roof
