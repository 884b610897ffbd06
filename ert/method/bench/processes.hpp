// A step that several processes measured, one after another: each has pages, places and warm-ups of its own.
#pragma once

#include "ert/method/bench/measurement.hpp"

namespace roof {

/// The process of each sample, from 0. A process begins with its warm-ups: samples that are neither used nor disturbed.
std::vector<int> processes_of(const std::vector<Sample>& samples);
/// How many processes measured the row; 1 without samples, and of a bench other than `train`.
int processes_of(const Measurement& row);

}  // namespace roof
