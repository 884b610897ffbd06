// JPEG files for the tests, good and bad.
#pragma once

#include "tests/fakes/temporary_folder.hpp"

#include <array>
#include <filesystem>
#include <string>

namespace roof::test {

using fakes::TemporaryFolder;

using Rgb = std::array<unsigned char, 3>;

enum class Ink { rgb, grey, cmyk };

/// One colour all over; `grey` and `cmyk` store it in that colour space, `cmyk` under a black ink that halves it.
/// Makes the folders it needs.
void write_plain(const std::filesystem::path& file, int width, int height, Rgb colour, Ink ink = Ink::rgb);

/// Left half black, right half white.
void write_halves(const std::filesystem::path& file, int width, int height);

void write_text(const std::filesystem::path& file, const std::string& text);

/// Leaves the first `share` of the file's bytes.
void truncate_file(const std::filesystem::path& file, double share);

/// `classes` folders "a", "b", … of `per_class` plain images "0.jpg", …, each of its own colour.
void write_folder_of(const std::filesystem::path& folder, int classes, int per_class);

}  // namespace roof::test
