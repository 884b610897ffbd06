// JSON on standard output, text that fits the window, and the folder for results.
#pragma once

#include "tools/roof/console/context.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace roof {

/// Prints the document indented, with a final newline. Invalid UTF-8, such as in a folder name, is replaced.
void print_json(std::ostream& out, const nlohmann::json& document);

/// Breaks lines between words where the stream has a window. Not for commands that a reader may copy.
std::string in_window(std::string_view text, const Terminal& terminal);

/// On standard error, what the file system of the folder cannot do.
void say_lacks(const std::filesystem::path& folder, const Context& context);

// Where results are kept if a command is not told: the same place wherever one stands.

/// $ROOF_RESULTS; else `results`, if `here` has a folder of that name; else `roof` in the data folder of the XDG base
/// directory specification ($XDG_DATA_HOME, else ~/.local/share); `results` without a home. `variable`: the value of an
/// environment variable, empty if it is not set.
std::filesystem::path results_folder(const std::function<std::string(const char*)>& variable,
                                     const std::filesystem::path& here);

/// Prints on `context.err` where results are kept, before the first of them is.
void say_where_results_are(const Context& context);

}  // namespace roof
