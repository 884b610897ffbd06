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

Database::Database(const std::filesystem::path& file) : name_(file.string()), bytes_(std::filesystem::file_size(file))
{
    sqlite3* opened = nullptr;
    const int status = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
    database_.reset(opened);
    if (status != SQLITE_OK) fail("it cannot be opened");
    constexpr int longest = 16 << 20;  // bytes of a cell
    sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, longest);
    sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 0);
    for (const auto& [option, value] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                        {SQLITE_DBCONFIG_ENABLE_VIEW, 0}})
        sqlite3_db_config(opened, option, value, static_cast<int*>(nullptr));
}

void Database::fail(const std::string& what) const
{
    throw InputError(fmt::format("{}: {}: {}", name_, what, sqlite3_errmsg(database_.get())));
}

std::set<std::string> Database::columns(const std::string& table) const
{
    std::set<std::string> names;
    bool is_table = true;
    each("SELECT type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' FROM sqlite_master WHERE name = '" + table +
             "' COLLATE NOCASE AND type IN ('table', 'view')",
         [&](const Row& row) { is_table = is_table && row.whole(0) == 1; });
    if (!is_table)
        throw InputError(fmt::format("{}: '{}' is no table: it is computed, which is not read", name_, table));
    each("PRAGMA table_info(" + table + ")", [&](const Row& row) { names.insert(row.text(1)); });
    return names;
}

void Database::each(const std::string& query, const TakeRow& take) const
{
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(database_.get(), query.c_str(), -1, &prepared, nullptr) != SQLITE_OK) fail(query);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared, sqlite3_finalize);
    // In a damaged file pages can be used twice, so that few bytes give rows without end. A row has at least two bytes, and UTF-16 becomes at
    // most one and a half times as long.
    std::uintmax_t rows = 0, text = 0;
    int status = sqlite3_step(prepared);
    for (; status == SQLITE_ROW; status = sqlite3_step(prepared)) {
        for (int column = 0; column < sqlite3_column_count(prepared); ++column)
            if (const int type = sqlite3_column_type(prepared, column); type == SQLITE_TEXT || type == SQLITE_BLOB)
                text += static_cast<std::uintmax_t>(sqlite3_column_bytes(prepared, column));
        if (++rows > bytes_ / 2 || text > 2 * bytes_)
            throw InputError(fmt::format("{}: it is damaged: {} gives more than the file can hold", name_, query));
        take(Row(prepared));
    }
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
