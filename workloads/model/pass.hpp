// The passes of a layer with weights.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace roof::model {

enum class Pass { forward, backward_data, backward_weights };

/// "forward", "backward_data", "backward_weights".
constexpr std::string_view name(Pass pass)
{
    constexpr std::array<std::string_view, 3> names{"forward", "backward_data", "backward_weights"};
    return names[static_cast<std::size_t>(pass)];
}

}  // namespace roof::model
