// What this binary is: the version of the project and the git revision it was built from. Generated at every build.
#pragma once

#include <string_view>

namespace roof {

std::string_view version();
/// Twelve hex digits, "-dirty" behind them if tracked files differed; "unknown" outside a git checkout.
std::string_view revision();

}  // namespace roof
