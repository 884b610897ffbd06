// Words of rows that decide what may be said of them: writers use these, and readers look for them.
#pragma once

#include <string_view>

namespace roof {

/// Remark on several ranks that share a device or too few processors.
inline constexpr std::string_view ranks_take_turns = "they take turns, and this time is not one of ranks side by side";
/// Remark: clocks of ranks differ by more than 2%. What the fast wait for the slow counts as communication.
inline constexpr std::string_view ranks_differ_in_clock = "the ranks' clocks differ";
/// Description of a training step: what its bytes are. Rows without it counted each layer by itself.
inline constexpr std::string_view bytes_of_operations =
    "the bytes are those of the tensors that its operations read and write";

}  // namespace roof
