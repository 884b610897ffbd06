// CUPTI's newer calls take one struct each, which contains its own size. CUPTI takes no other than the size of its own
// version; some versions since 13.1 also take a former one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace roof::cupti {

/// A struct, and room for the members that a later CUPTI than that of this build has added to it.
template <class Parameters>
struct Extensible : Parameters {
    std::array<std::byte, 32> added{};
};

/// All zero except the size. `size`: the macro named after the struct, or that of a GrownStruct.
template <class Parameters>
Extensible<Parameters> parameters(std::size_t size)
{
    Extensible<Parameters> made{};
    made.structSize = size;
    return made;
}

/// A struct that CUPTI made longer. Sizes and versions are those of the headers of CUDA 12.6 to 13.5.
struct GrownStruct {
    std::size_t former;
    std::uint32_t since;  ///< as Cupti::version()
    std::size_t size;

    constexpr std::size_t of(std::uint32_t version) const { return version < since ? former : size; }
};
inline constexpr GrownStruct metric_properties{60, 130100, 64};
inline constexpr GrownStruct counter_availability{40, 130101, 41};
inline constexpr GrownStruct host_initialisation{48, 130200, 56};
inline constexpr GrownStruct range_profiler_enabling{32, 130400, 36};

/// Valid as long as the strings.
inline std::vector<const char*> pointers(const std::vector<std::string>& words)
{
    std::vector<const char*> made;
    made.reserve(words.size());
    for (const std::string& word : words) made.push_back(word.c_str());
    return made;
}

}  // namespace roof::cupti
