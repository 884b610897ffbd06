// What `roof doctor` says to a person.
#pragma once

#include "ert/method/bench/bench_registry.hpp"

#include <string>

namespace roof {

/// Four sections: the machine as reported, the inconsistencies about that, what can be measured, what cannot with its remedy.
std::string doctor_text(const BenchRegistry& registry);

}  // namespace roof
