// Measures a step in further processes, one after another, which get pages and places of their own.
#pragma once

#include "tools/roof/console/context.hpp"

namespace roof {

/// As Context::measured_anew: by `roof sweep` in a folder of its own, whose samples are a process's share.
std::function<std::optional<Measurement>()> measured_anew(const Item& item);

}  // namespace roof
