// The help: the Markdown files in tools/roof/help, compiled into the binary.
#pragma once

#include <string>
#include <string_view>

namespace roof {

/// help/roof.md followed by the table of the commands.
std::string overview();

/// help/<command>.md. Throws std::logic_error if there is none.
std::string_view help_of(std::string_view command);

}  // namespace roof
