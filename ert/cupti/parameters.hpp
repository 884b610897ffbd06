// CUPTI's newer calls take one struct each, which contains its own size.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace roof::cupti {

/// All zero except the size. `size`: the macro named after the struct.
template <class Parameters>
Parameters parameters(std::size_t size)
{
    Parameters made{};
    made.structSize = size;
    return made;
}

/// Valid as long as the strings.
inline std::vector<const char*> pointers(const std::vector<std::string>& words)
{
    std::vector<const char*> made;
    made.reserve(words.size());
    for (const std::string& word : words) made.push_back(word.c_str());
    return made;
}

}  // namespace roof::cupti
