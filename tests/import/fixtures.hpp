// The importers' fixtures by name: small files as the tools write them. Nsight Systems' database is made from SQL.
#pragma once

#include "analysis/recordings/import.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace roof::tests {

/// Names of the fixtures in text formats.
const std::vector<std::string>& text_fixtures();
std::filesystem::path fixture(const std::string& name);
std::string fixture_text(const std::string& name);
/// Imports a file of this text, whose name says nothing.
analysis::Imported imported_text(const std::string& text);

/// Makes the database from `sql`. Throws std::runtime_error for invalid SQL.
void make_database(const std::filesystem::path& file, const std::string& sql);

}  // namespace roof::tests
