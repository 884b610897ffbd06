// Names of enumerators and of rows of tables: one table for both directions.
#pragma once

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <array>
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
constexpr std::string_view name_in(const Table& table, Enum value)
{
    for (const auto& row : table) {
        if (row.value == value) return row.name;
    }
    return "?";
}

template <class Table>
std::vector<std::string> names_in(const Table& table)
{
    std::vector<std::string> names;
    for (const auto& row : table) names.emplace_back(row.name);
    return names;
}

/// The row of that name. Throws InputError with the legal values.
template <class Table>
const auto& row_in(const Table& table, std::string_view kind, std::string_view name)
{
    const auto found = std::ranges::find_if(table, [&](const auto& row) { return row.name == name; });
    if (found == std::end(table)) throw InputError(unknown_word(kind, name, names_in(table)));
    return *found;
}

/// The names of all enumerators up to the `last`, and what the enumeration is called in messages, as names_of(Enum)
/// beside it returns.
template <auto last>
struct EnumNames {
    std::string_view what;
    std::array<Named<decltype(last)>, static_cast<std::size_t>(last) + 1> rows{};

    /// `names`: in the order of the enumerators.
    template <std::size_t count>
    constexpr EnumNames(std::string_view kind, const std::string_view (&names)[count]) : what(kind)
    {
        static_assert(count == static_cast<std::size_t>(last) + 1, "each enumerator has a name");
        for (std::size_t i = 0; i < count; ++i) rows[i] = {static_cast<decltype(last)>(i), names[i]};
    }
};

template <class Enum>
concept NamedEnum = requires(Enum value)
{
    names_of(value).rows;
};

template <NamedEnum Enum>
constexpr std::string_view name(Enum value)
{
    return name_in(names_of(value).rows, value);
}

/// Throws InputError with the legal values.
template <NamedEnum Enum>
Enum parse_enum(std::string_view word)
{
    const auto names = names_of(Enum{});
    return row_in(names.rows, names.what, word).value;
}

}  // namespace roof
