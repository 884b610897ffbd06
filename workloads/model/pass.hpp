// The passes of a layer with weights.
#pragma once

#include "ert/base/names.hpp"

namespace roof::model {

enum class Pass { forward, backward_data, backward_weights };
constexpr EnumNames<Pass, 3> names_of(Pass)
{
    return {"pass",
            {{{Pass::forward, "forward"},
              {Pass::backward_data, "backward_data"},
              {Pass::backward_weights, "backward_weights"}}}};
}

}  // namespace roof::model
