// The pictures of the report as files of their own, drawn without a browser. They are in the light theme, and their style sheet
// holds no variables, which few programs but browsers resolve.
#pragma once

#include "analysis/study/study.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// <folder>/<panel>-<n>.svg, one for each picture of each panel. Throws InputError if the folder cannot be made or written.
std::vector<std::filesystem::path> write_pictures(std::span<const Study> studies, const std::filesystem::path& folder);

/// Every svg element of a panel's HTML of at least 200 pixels, made to stand alone.
std::vector<std::string> pictures_of(std::string_view html);

/// The style sheet of the light theme with its variables resolved.
std::string plain_style_sheet();

}  // namespace roof::analysis
