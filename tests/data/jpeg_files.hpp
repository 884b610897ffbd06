// Writes valid and damaged JPEG files for the tests.
#pragma once

#include "tests/fakes/temporary_folder.hpp"

#include <array>
#include <filesystem>
#include <string>

namespace roof::test {

using fakes::TemporaryFolder;

using Rgb = std::array<unsigned char, 3>;

enum class Ink { rgb, grey, cmyk };

/// Writes an image of one colour and missing folders. `cmyk` adds a black ink that halves the brightness.
void write_plain(const std::filesystem::path& file, int width, int height, Rgb colour, Ink ink = Ink::rgb);

/// Writes an image whose left half is black and right half white.
void write_halves(const std::filesystem::path& file, int width, int height);

void write_text(const std::filesystem::path& file, const std::string& text);

/// Keeps the first `share` of the file's bytes.
void truncate_file(const std::filesystem::path& file, double share);

/// Writes `classes` folders "a", "b", … with `per_class` plain images "0.jpg", …, each of a different colour.
void write_folder_of(const std::filesystem::path& folder, int classes, int per_class);

}  // namespace roof::test
