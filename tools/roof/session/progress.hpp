// Progress on standard error. On a terminal: one line that is redrawn, and erased at the end. Elsewhere: a line per finished row; for a
// long list, a line per tenth of it, and the unsupported rows are summed up by reason at the end. Failed rows always have a line.
#pragma once

#include "tools/roof/console/context.hpp"
#include "tools/roof/session/session.hpp"

namespace roof {

/// The context must outlive the listener.
Listener progress(const Context& context);

}  // namespace roof
