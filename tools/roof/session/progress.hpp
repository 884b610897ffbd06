// Live progress on standard error: on a terminal one line that is drawn again and vanishes at the end; anywhere else one
// plain line per finished row, so that a log stays readable. Of a long list, a line for each tenth, and what this machine
// does not offer is summed up by reason at the end; what fails always has its line, and every row stands in the results folder.
#pragma once

#include "tools/roof/console/context.hpp"
#include "tools/roof/session/session.hpp"

namespace roof {

/// The context must outlive the listener.
Listener progress(const Context& context);

}  // namespace roof
