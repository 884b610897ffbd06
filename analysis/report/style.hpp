// The report's style sheet, with Okabe and Ito's colours for colour-blind readers. Phases also differ in shape.
#pragma once

#include <string_view>

namespace roof::analysis {

std::string_view style_sheet();

}  // namespace roof::analysis
