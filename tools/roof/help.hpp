// The help: the Markdown files in tools/roof/help, compiled into the binary.
#pragma once

#include "tools/roof/console/terminal.hpp"

#include <string>
#include <string_view>

namespace roof {

/// help/roof.md followed by the table of the commands.
std::string overview();

/// help/<command>.md. Throws std::logic_error if there is none.
std::string help_of(std::string_view command);

/// The page in lines that fit the window, if there is one. Lines of a paragraph and of an option's description are joined first;
/// examples stay whole.
std::string fitted_help(const std::string& page, const Terminal& terminal);

}  // namespace roof
