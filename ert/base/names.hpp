// Names of enumerators: one table per enum, for both directions.
#pragma once

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace roof {

template <class Enum>
struct Named {
    Enum value;
    std::string_view name;
};

/// `table` must hold every enumerator.
template <class Table, class Enum>
std::string_view name_in(const Table& table, Enum value)
{
    for (const auto& row : table) {
        if (row.value == value) return row.name;
    }
    return "?";
}

/// Throws InputError with the legal values.
template <class Table>
auto value_in(const Table& table, std::string_view kind, std::string_view name)
{
    std::vector<std::string> legal;
    for (const auto& row : table) {
        if (row.name == name) return row.value;
        legal.emplace_back(row.name);
    }
    throw InputError(unknown_word(kind, name, legal));
}

}  // namespace roof
