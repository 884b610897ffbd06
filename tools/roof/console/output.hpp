// JSON on standard output.
#pragma once

#include <nlohmann/json.hpp>

#include <ostream>

namespace roof {

/// Prints the document indented, with a final newline. Invalid UTF-8, such as in a folder name, is replaced.
void print_json(std::ostream& out, const nlohmann::json& document);

}  // namespace roof
