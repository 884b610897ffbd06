// The report's style sheet, with Okabe and Ito's colours for colour-blind readers. Phases also differ in shape.
#pragma once

#include <string>

namespace roof::analysis {

/// The page's, with a light and a dark theme and rules for print.
std::string style_sheet();

/// The light theme without variables, for picture files: few programs except browsers support them.
std::string picture_style_sheet();

}  // namespace roof::analysis
