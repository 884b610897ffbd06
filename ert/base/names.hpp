// Names of enumerators: one table per enum, for both directions.
#pragma once

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <optional>
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

/// The value of the first row whose name is a part of `text`; none if there is no such row.
template <class Table>
auto value_found_in(const Table& table, std::string_view text)
{
    const auto row =
        std::ranges::find_if(table, [&](const auto& r) { return text.find(r.name) != std::string_view::npos; });
    return row == std::ranges::end(table) ? std::nullopt : std::optional(row->value);
}

}  // namespace roof
