// Live progress on standard error: on a terminal one line that is drawn again and vanishes at the end; anywhere else one
// plain line per finished row, or per twentieth of a long list, so that a log stays readable.
#pragma once

#include "tools/roof/console/context.hpp"
#include "tools/roof/session/session.hpp"

namespace roof {

/// The context must outlive the listener.
Listener progress(const Context& context);

}  // namespace roof
