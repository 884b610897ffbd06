#include "analysis/recordings/text_lines.hpp"

#include <algorithm>

namespace roof::analysis {

std::string place_in(const std::string& name, std::string_view text, std::size_t offset)
{
    const std::string_view before = text.substr(0, std::min(offset, text.size()));
    return name + ":" + std::to_string(1 + std::count(before.begin(), before.end(), '\n'));
}

}  // namespace roof::analysis
