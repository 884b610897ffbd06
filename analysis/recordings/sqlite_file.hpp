// A read-only SQLite file whose tables and columns may be missing. A view or a virtual table, which could compute without end, is no table here,
// and no query gives more rows and bytes than a file of this size can hold.
#pragma once

#include "ert/recording/records.hpp"

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace roof::analysis {

/// A row of a query; columns by index.
class Row {
  public:
    explicit Row(sqlite3_stmt* statement) : statement_(statement) {}

    bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
    std::int64_t whole(int column) const { return sqlite3_column_int64(statement_, column); }
    /// nullopt for NULL and for negative numbers.
    Number number(int column) const;
    std::string text(int column) const;

  private:
    sqlite3_stmt* statement_;
};

using TakeRow = std::function<void(const Row&)>;

/// All functions throw InputError with SQLite's message for a damaged file.
class Database {
  public:
    explicit Database(const std::filesystem::path& file);

    /// Names of the table's columns; empty if there is no such table. Throws InputError for a view or a virtual table of that name.
    std::set<std::string> columns(const std::string& table) const;

    /// The rows of a table; columns that it lacks are NULL. No rows without the table. Throws InputError if it lacks
    /// one of the first `required` columns.
    void select(const std::string& table, const std::vector<std::string>& wanted, std::size_t required,
                const TakeRow& take) const;

    const std::string& name() const { return name_; }

  private:
    [[noreturn]] void fail(const std::string& what) const;
    void each(const std::string& query, const TakeRow& take) const;

    std::string name_;
    std::uintmax_t bytes_;  ///< of the file
    std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_{nullptr, sqlite3_close};
};

}  // namespace roof::analysis
