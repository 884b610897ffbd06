// The version of the project and the git revision of this binary. Generated at every build.
#pragma once

#include <string_view>

namespace roof {

std::string_view version();
/// Twelve hexadecimal digits, with "-dirty" if tracked files differed; "unknown" outside a git checkout.
std::string_view revision();

}  // namespace roof
