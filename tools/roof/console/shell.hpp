// Words as a shell takes them: what is printed as a command can be pasted.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace roof {

/// Quoted only where a POSIX shell needs it.
std::string shell_word(std::string_view word);
std::string shell_line(std::span<const std::string> words);

}  // namespace roof
