// The answers a person comes for, before any table: for each model the best device at each batch, the batches at which one
// device overtakes another, with intervals, and the three largest losses in seconds.
#pragma once

#include "analysis/study/study.hpp"

#include <span>
#include <string>
#include <vector>

namespace roof::analysis {

/// Where one device overtakes another as the batch grows: the ratio of their step times crosses 1. Between measured batches the
/// logarithm of the ratio is taken as linear in that of the batch. `low` and `high` are where the ends of the ratio's interval
/// cross, or the smallest and the largest batch that both measured, if they do not.
struct Crossover {
    std::string slower;  ///< beyond the crossing
    std::string faster;
    double batch = 0;
    double low = 0;
    double high = 0;
};

/// A ratio of step times, of a second device over a first, at one batch.
struct RatioAtBatch {
    double batch = 0;
    double ratio = 1;
    double low = 1;
    double high = 1;
};

/// By growing batch; names are those of the two devices. Every crossing, in order.
std::vector<Crossover> crossovers(const std::string& first, const std::string& second,
                                  std::span<const RatioAtBatch> ratios);

/// Seconds of a step above what its roofs allow, by kind of layer and phase; time no layer accounts for is one of them.
struct Loss {
    std::string what;
    Seconds seconds;
};
/// Of one measured step, largest first, at most `n`.
std::vector<Loss> largest_losses(const Study& study, const Measurement& row, std::size_t n);

/// A sentence or two for each model, precision and source of images over all studies; empty without training steps.
std::vector<std::string> summary(std::span<const Study> studies);
std::vector<std::string> summary(const Study& study);

/// Broken into lines of at most `columns`, indented after the first.
std::string wrapped(const std::vector<std::string>& sentences, int columns);

}  // namespace roof::analysis
