// The report's style sheet, with the colour-blind safe colours of Okabe and Ito. Phases differ in shape, too.
#pragma once

#include <string_view>

namespace roof::analysis {

std::string_view style_sheet();

}  // namespace roof::analysis
