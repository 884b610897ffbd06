// CUPTI's newer calls take one struct each, which says its own size.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace roof::cupti {

/// All zero but for its size; `size` is the macro of that struct's name.
template <class Parameters>
Parameters parameters(std::size_t size)
{
    Parameters made{};
    made.structSize = size;
    return made;
}

/// They live as long as the words.
inline std::vector<const char*> pointers(const std::vector<std::string>& words)
{
    std::vector<const char*> made;
    made.reserve(words.size());
    for (const std::string& word : words) made.push_back(word.c_str());
    return made;
}

}  // namespace roof::cupti
