// Quoting for a POSIX shell, so that a printed command can be pasted.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace roof {

/// Quotes a word only if it needs that.
std::string shell_word(std::string_view word);
std::string shell_line(std::span<const std::string> words);

}  // namespace roof
