// What libraries and locales make of words.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace roof {

/// What an error says, also one of a library: without the words by which the standard library and nlohmann::json mark
/// theirs.
std::string in_own_words(const std::exception& error);

/// Valid UTF-8 for a locale without it: the signs that roof writes in words of ASCII, any other character as \uXXXX, as
/// in JSON. "≤ 3", which has a blank, keeps its width.
std::string in_ascii(std::string_view text);

}  // namespace roof
