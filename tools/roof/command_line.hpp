// Runs the command that the arguments name, and converts exceptions into messages and exit statuses:
//   0 all measured   1 some row failed   2 the input was wrong   130 interrupted
#pragma once

#include "tools/roof/console/context.hpp"
#include "tools/roof/console/terminal.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// `arguments` without the program's name. Never throws.
int run_command_line(const std::vector<std::string>& arguments, const Environment& environment);

// The help: the Markdown files in tools/roof/help, compiled into the binary.

/// help/roof.md, of which a short one has the beginning, followed by the table of the commands.
std::string overview(bool is_whole = true);

/// One screen of help/<command>.md: its forms, first sentence, first ten options in a line each, and three examples.
std::string short_help(std::string_view command, const Terminal& terminal);

/// help/<command>.md. Throws std::logic_error if there is none.
std::string help_of(std::string_view command);

}  // namespace roof
