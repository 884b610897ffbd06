// JSON on standard output.
#pragma once

#include <nlohmann/json.hpp>

#include <ostream>

namespace roof {

/// Indented, with a final newline. Invalid UTF-8, such as in the name of a folder, is replaced.
void print_json(std::ostream& out, const nlohmann::json& document);

}  // namespace roof
