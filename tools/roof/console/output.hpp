// JSON on standard output, and text that fits the window.
#pragma once

#include "tools/roof/console/terminal.hpp"

#include <nlohmann/json.hpp>

#include <ostream>
#include <string>
#include <string_view>

namespace roof {

/// Prints the document indented, with a final newline. Invalid UTF-8, such as in a folder name, is replaced.
void print_json(std::ostream& out, const nlohmann::json& document);

/// Breaks lines between words where the terminal has a window. Not for commands that a reader may copy.
std::string in_window(std::string_view text, const Terminal& terminal);

}  // namespace roof
