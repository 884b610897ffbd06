// Pictures for a terminal: the hierarchical roofline, batch trajectories, and the time of a step by kind of layer.
#pragma once

#include "analysis/study/study.hpp"

#include <string>

namespace roof::analysis {

/// The roofs of every level and precision at the most threads, one drawing per device, with a letter and a legend entry
/// for each measured step. `width` in columns, at least 40; `plain` means ASCII. Empty without ceilings; a sentence
/// where those of bandwidth or of compute are missing.
std::string terminal_roofline(const Study& study, int width, bool plain);

/// For each model with at least two measured batches: images per second of the median step over the batch, with a
/// letter for each device, precision, thread count and source of images. Empty if there is none.
std::string terminal_batches(const Study& study, int width, bool plain);

/// For the largest batch of each model, device and precision: the seconds of each kind of layer by phase, with a bar
/// for its share of the step. Empty without layers.
std::string terminal_layers(const Study& study, int width, bool plain);

}  // namespace roof::analysis
