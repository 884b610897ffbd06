#include "tools/roof/console/shell.hpp"

#include <algorithm>
#include <cctype>

namespace roof {

std::string shell_word(std::string_view word)
{
    const auto harmless = [](unsigned char c) {
        return std::isalnum(c) != 0 || std::string_view("-_./=,:+@%").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), harmless)) return std::string(word);
    std::string quoted = "'";
    for (const char c : word) {
        if (c == '\'')
            quoted += "'\\''";
        else
            quoted += c;
    }
    return quoted + "'";
}

std::string shell_line(std::span<const std::string> words)
{
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
    return line;
}

}  // namespace roof
