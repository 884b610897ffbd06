// Where results are kept if a command is not told: the same place wherever one stands.
#pragma once

#include "tools/roof/console/context.hpp"

#include <filesystem>
#include <functional>
#include <string>

namespace roof {

/// $ROOF_RESULTS; else `results`, if `here` has a folder of that name; else `roof` in the data folder of the XDG base directory
/// specification ($XDG_DATA_HOME, else ~/.local/share); `results` without a home. `variable`: the value of an environment
/// variable, empty if it is not set.
std::filesystem::path results_folder(const std::function<std::string(const char*)>& variable,
                                     const std::filesystem::path& here);

/// Prints on `context.err` where results are kept, before the first of them is.
void say_where_results_are(const Context& context);

}  // namespace roof
