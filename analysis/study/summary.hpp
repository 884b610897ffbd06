// The main results in sentences: for each model the best device at each batch, the batches at which one device
// overtakes another, with intervals, and what binds the best step.
#pragma once

#include "analysis/study/answer.hpp"

#include <span>
#include <string>
#include <vector>

namespace roof::analysis {

/// The batch at which one device overtakes another: the ratio of their times per image crosses 1. It is interpolated
/// between measured batches on logarithmic scales. `low` and `high` are the batches at which the ends of the ratio's
/// interval cross 1, or the smallest and the largest common batch if they do not.
struct Crossover {
    std::string slower;  ///< above this batch
    std::string faster;
    double batch = 0;
    double low = 0;
    double high = 0;
};

/// The time per image of the second device over that of the first, at one batch.
struct RatioAtBatch {
    double batch = 0;
    double ratio = 1;
    double low = 1;
    double high = 1;
};

/// Every crossing of `ratios`, which must be sorted by batch. `first` and `second` name the devices.
std::vector<Crossover> crossovers(const std::string& first, const std::string& second,
                                  std::span<const RatioAtBatch> ratios);

/// For each model, precision and source of images, the best device in one sentence and the answer about its best step with
/// at most so many actions; empty without training steps.
std::vector<std::string> summary(std::span<const Study> studies, std::size_t actions = most_actions);

}  // namespace roof::analysis
