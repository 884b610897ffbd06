// Files that are compiled into the binary (tools/cmake/embed.cmake).
#pragma once

#include <string_view>

namespace roof {

struct EmbeddedText {
    std::string_view path;  ///< from the root of the tree, "tools/roof/help/run.md"
    std::string_view text;
};

}  // namespace roof
