#include "analysis/recordings/sqlite_file.hpp"

#include "ert/base/error.hpp"

#include <fmt/format.h>

namespace roof::analysis {

Number Row::number(int column) const
{
    if (is_null(column) || whole(column) < 0) return {};
    return static_cast<std::uint64_t>(whole(column));
}

std::string Row::text(int column) const
{
    const unsigned char* const text = sqlite3_column_text(statement_, column);
    return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

Database::Database(const std::filesystem::path& file) : name_(file.string())
{
    sqlite3* opened = nullptr;
    const int status = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
    database_.reset(opened);
    if (status != SQLITE_OK) fail("it cannot be opened");
}

void Database::fail(const std::string& what) const
{
    throw InputError(fmt::format("{}: {}: {}", name_, what, sqlite3_errmsg(database_.get())));
}

std::set<std::string> Database::columns(const std::string& table) const
{
    std::set<std::string> names;
    each("PRAGMA table_info(" + table + ")", [&](const Row& row) { names.insert(row.text(1)); });
    return names;
}

void Database::each(const std::string& query, const TakeRow& take) const
{
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(database_.get(), query.c_str(), -1, &prepared, nullptr) != SQLITE_OK) fail(query);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared, sqlite3_finalize);
    int status = sqlite3_step(prepared);
    for (; status == SQLITE_ROW; status = sqlite3_step(prepared)) take(Row(prepared));
    if (status != SQLITE_DONE) fail(query);
}

void Database::select(const std::string& table, const std::vector<std::string>& wanted, std::size_t required,
                      const TakeRow& take) const
{
    const std::set<std::string> there = columns(table);
    if (there.empty()) return;
    std::string list;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const bool has = there.contains(wanted[i]);
        if (!has && i < required)
            throw InputError(fmt::format("{}: table {} has no column '{}'", name_, table, wanted[i]));
        list += (i == 0 ? "" : ", ") + (has ? "\"" + wanted[i] + "\"" : "NULL");
    }
    each("SELECT " + list + " FROM " + table, take);
}

}  // namespace roof::analysis
