// The axes of a training step, and their values.
#pragma once

#include "ert/method/bench/bench.hpp"
#include "workloads/engine/recipe.hpp"

#include <string>
#include <vector>

namespace roof::engine {

using Values = std::vector<std::string>;

/// In what the engines' benches differ.
struct TrainingAxes {
    Values batches;     ///< defaults
    Values precisions;  ///< defaults
    Values allowed_precisions;
    std::string precision_note{};  ///< "fp16 with loss scaling; "
    Values algorithms;             ///< allowed, the default first
};
/// model, batch, precision, algorithm, data, parameters, lr.
std::vector<Axis> training_axes(const TrainingAxes& of_engine);

/// Throws InputError for a point that is wrong on every machine: its `lr`, `data` or file of a network.
void require_legal(const Point& point);
/// The point's `lr`. Throws InputError if it is negative or no number.
float learning_rate(const Point& point);
/// The point's `parameters`.
Parameters parameters_of(const Point& point);

}  // namespace roof::engine
