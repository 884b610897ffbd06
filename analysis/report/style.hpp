// The report's style sheet. Colours are those of Okabe and Ito, told apart by colour-blind readers; phases differ in shape
// as well.
#pragma once

#include <string_view>

namespace roof::analysis {

std::string_view style_sheet();

}  // namespace roof::analysis
