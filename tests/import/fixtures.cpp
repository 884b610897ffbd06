#include "tests/import/fixtures.hpp"

#include "ert/base/files.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <sqlite3.h>

#include <stdexcept>

namespace roof::tests {

const std::vector<std::string>& text_fixtures()
{
    static const std::vector<std::string> names{
        "ncu_details.csv", "ncu_raw.csv", "ncu_sectors.csv",   "ncu_rules.csv", "kineto.json",
        "perf.json",       "likwid.csv",  "ert_roofline.json", "perf_6.1.json", "key_averages.txt"};
    return names;
}

std::filesystem::path fixture(const std::string& name)
{
    return std::filesystem::path(ROOF_TEST_DATA) / "data" / name;
}

std::string fixture_text(const std::string& name)
{
    return read_file(fixture(name));
}

analysis::Imported imported_text(const std::string& text)
{
    const fakes::TemporaryFolder folder;
    write_file(folder / "x", text);
    return analysis::import_file(folder / "x");
}

void make_database(const std::filesystem::path& file, const std::string& sql)
{
    sqlite3* database = nullptr;
    const bool opened = sqlite3_open(file.c_str(), &database) == SQLITE_OK;
    const bool made = opened && sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
    const std::string message = made ? "" : sqlite3_errmsg(database);
    sqlite3_close(database);
    if (!made) throw std::runtime_error(message);
}

}  // namespace roof::tests
