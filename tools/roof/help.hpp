// The help: Markdown files beside the sources, compiled into the binary, so that the pages and `--help` cannot disagree.
#pragma once

#include <string>
#include <string_view>

namespace roof {

/// help/roof.md followed by the table of the commands.
std::string overview();

/// help/<command>.md. Throws std::logic_error if the build has none.
std::string_view help_of(std::string_view command);

}  // namespace roof
