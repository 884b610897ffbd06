// Converts SVG files into PNG files in the same folder with rsvg-convert.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace roof {

/// Returns an empty string, or the reason of a failure. Leaves no partial file.
std::string make_png(std::span<const std::filesystem::path> pictures);

}  // namespace roof
