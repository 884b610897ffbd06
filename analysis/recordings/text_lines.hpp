// Lines of a text with their numbers, for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace roof::analysis {

/// "name:line" of this offset.
std::string place_in(const std::string& name, std::string_view text, std::size_t offset);

/// The offset of the first line for which `fits(line)` is true; npos if there is none.
template <class Fits>
std::size_t find_line(std::string_view text, const Fits& fits)
{
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        if (fits(text.substr(at, end == text.npos ? end : end - at))) return at;
        if (end == text.npos) break;
        at = end + 1;
    }
    return std::string_view::npos;
}

}  // namespace roof::analysis
