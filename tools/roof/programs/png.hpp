// SVG files made into PNG files beside them, by rsvg-convert where it is installed.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace roof {

/// Empty, or why there are none; then no file is left half written.
std::string make_png(std::span<const std::filesystem::path> pictures);

}  // namespace roof
