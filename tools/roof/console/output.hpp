// Results for other programs.
#pragma once

#include <nlohmann/json.hpp>

#include <ostream>

namespace roof {

/// Indented, with a line end. Bytes that are no UTF-8, as a folder's name may hold, are replaced.
void print_json(std::ostream& out, const nlohmann::json& document);

}  // namespace roof
