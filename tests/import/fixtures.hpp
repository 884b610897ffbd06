// The importers' fixtures: small files as the tools write them, by name. Nsight Systems' database is made from its SQL.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace roof::tests {

/// Of the text formats.
const std::vector<std::string>& text_fixtures();
std::filesystem::path fixture(const std::string& name);
std::string fixture_text(const std::string& name);

/// Makes the database from `sql`; throws std::runtime_error if that is no SQL.
void make_database(const std::filesystem::path& file, const std::string& sql);

}  // namespace roof::tests
