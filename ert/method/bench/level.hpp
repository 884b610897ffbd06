// The levels that ceilings belong to, in one table: the core, its caches, memory. No other code parses their names.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace roof {

/// `path`: not a level of the table, such as a host link.
enum class LevelKind { core, cache, memory, path };

struct LevelTraits {
    std::string_view name;
    LevelKind kind = LevelKind::path;
    int number = 0;             ///< of a cache, from 1
    bool is_near_core = false;  ///< not slowed by traffic of other cores: the core, L1 and L2
};

inline constexpr std::string_view core_level = "core";
inline constexpr std::string_view memory_level = "DRAM";

inline constexpr std::array<LevelTraits, 9> level_table{{
    {core_level, LevelKind::core, 0, true},
    {"L1", LevelKind::cache, 1, true},
    {"L2", LevelKind::cache, 2, true},
    {"L3", LevelKind::cache, 3},
    {"L4", LevelKind::cache, 4},
    {"L5", LevelKind::cache, 5},
    {"L6", LevelKind::cache, 6},
    {"L7", LevelKind::cache, 7},
    {memory_level, LevelKind::memory},
}};

/// Traits of a path for a name that the table lacks.
constexpr LevelTraits level_traits(std::string_view name)
{
    for (const LevelTraits& row : level_table)
        if (row.name == name) return row;
    return {name};
}

/// 1 -> "L1".
inline std::string cache_level(std::size_t number)
{
    return "L" + std::to_string(number);
}

}  // namespace roof
