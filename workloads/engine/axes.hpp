// What the engines' benches have in common as points of a sweep.
#pragma once

#include "ert/method/bench/bench.hpp"

#include <string>
#include <vector>

namespace roof::engine {

using Words = std::vector<std::string>;

/// An axis of these words; of any text, if `legal` is empty.
Axis words(std::string name, std::string meaning, Words usual, Words legal);
/// An axis of whole numbers from 1 to `most`.
Axis numbers(std::string name, std::string meaning, Words usual, long long most);

/// The point's `lr`. Throws InputError if it is negative or no number.
float learning_rate(const Point& point);

}  // namespace roof::engine
