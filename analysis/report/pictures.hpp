// The pictures of the report as SVG files in the light theme. The style sheet has no variables, because few programs
// except browsers support them.
#pragma once

#include "analysis/study/study.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// Writes <folder>/<panel>-<n>.svg for each picture of each panel. Throws InputError if the folder cannot be made or
/// written.
std::vector<std::filesystem::path> write_pictures(std::span<const Study> studies, const std::filesystem::path& folder);

/// Each svg element of at least 200 pixels in a panel's HTML, as a complete file.
std::vector<std::string> pictures_of(std::string_view html);

/// The style sheet of the light theme with its variables resolved.
std::string plain_style_sheet();

}  // namespace roof::analysis
