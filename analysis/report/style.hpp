// The frame of all pages, and the report's style sheet, with Okabe and Ito's colours for colour-blind readers. Phases also differ in shape.
#pragma once

#include <string>
#include <string_view>

namespace roof::analysis {

/// The page's, with a light and a dark theme and rules for print.
std::string style_sheet();

/// The light theme without variables, for picture files: few programs except browsers support them.
std::string picture_style_sheet();

/// A page with the style sheet that fetches nothing. `header` is above its main part, `scripts` below. `policy`: what its
/// content security policy allows besides styles.
std::string html_document(std::string_view title, std::string_view header, std::string_view main,
                          std::string_view scripts = "", std::string_view policy = "");

}  // namespace roof::analysis
