// The pictures of the report for a terminal: the hierarchical roofline, the batch trajectories, and where a step's time goes.
#pragma once

#include "analysis/study/study.hpp"

#include <string>

namespace roof::analysis {

/// Log-log: every level's and every precision's roof at the most threads, one drawing per device, and a letter per
/// measured step with a legend. `width` in columns, at least 40; `plain` keeps to ASCII. The axes depend on the ceilings
/// alone; without ceilings it says so and draws nothing.
std::string terminal_roofline(const Study& study, int width, bool plain);

/// For each model that was measured at two batches or more: images per second of the median step over the batch, both
/// logarithmic, with a letter per device, precision, threads and source of images. Empty if there is none.
std::string terminal_batches(const Study& study, int width, bool plain);

/// For the largest batch of each model, device and precision: the seconds of each kind of layer in each phase, with a bar for
/// its share of the step. Empty without layers.
std::string terminal_layers(const Study& study, int width, bool plain);

}  // namespace roof::analysis
