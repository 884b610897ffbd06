// The host's update of parameters.
#pragma once

#include "tests/engine/layers/host_values.hpp"

#include <cstddef>

namespace roof::ir {

/// What a descent updates.
struct Descent {
    template <class Update>
    Descent(const Update& op, const Memory& memory, const Tensor& of_squares = {})
        : values(memory, op.values),
          momenta(memory, op.momenta),
          copies(memory, op.copies),
          squares(memory, of_squares),
          state(*memory.state()),
          rate(op.learning_rate)
    {
    }
    void update(std::size_t k, float gradient)
    {
        if (squares) {
            const Adapted next = adapt({values[k], momenta[k], squares[k]}, gradient, state.adam, rate);
            values.put(k, next.value);
            momenta.put(k, next.mean);
            squares.put(k, next.square);
        } else {
            const Descended next = descend(values[k], gradient, momenta[k], rate);
            values.put(k, next.value);
            momenta.put(k, next.momentum);
        }
        if (copies) copies.put(k, values[k]);
    }

    Values values, momenta, copies, squares;
    const StepState& state;
    float rate;
};

}  // namespace roof::ir
