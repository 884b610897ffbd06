// The answer about one step: what binds it, and what is most worthwhile to do about it. docs/method.md, section 7, has
// the rules. Terminal, page and JSON take it from here.
#pragma once

#include "analysis/study/study.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// One thing to do, and the time of a step that it saves. Savings do not add up.
struct Action {
    std::string what;
    Seconds seconds;
    std::string_view sense;  ///< "up to ", "at least ", "about " or empty
    std::string known;       ///< how the seconds are known
};

inline constexpr std::size_t most_actions = 3;

struct StepAnswer {
    std::string headline;         ///< "compute-bound: 83% of the time under the fp32 roof"
    bool no_roof_binds = false;   ///< half of the time or more is unexplained
    std::vector<Action> actions;  ///< at most three, the most seconds first
    std::string roofs{};          ///< "lasting" or "burst" where the step has both; else empty
};
StepAnswer answer_of(const Study& study, const Measurement& row);
/// Its headline in few words: "compute-bound: 83%", "mixed: 50% compute, 27% DRAM", "bound by neither roof".
std::string bound_of(const Study& study, const Measurement& row);

/// The headline and the first actions in sentences, without the name of the step; empty for a step that was not
/// measured.
std::string answer_text(const Study& study, const Measurement& row, std::size_t actions = most_actions);

/// What binds the step, why, and what its roofs are worth, in sentences: "alexnet, batch 4, fp32 on cpu, 2 threads is
/// mixed: 60% compute, 27% DRAM. A step takes 90.0 ms; at its roofs it would take about 70.0 ms. Its update moves 978
/// MB for 4 images. From batch 8 on, compute binds." Empty for a step that was not measured.
std::string answer_sentence(const Study& study, const Measurement& row);

/// Of measured steps: "2 steps of alexnet in fp32 on cpu, 2 threads: 1 mixed, 1 compute-bound. Nearest to its roofs:
/// alexnet b16 (75%); farthest: alexnet b4 (68%)."
std::string steps_sentence(const Study& study, std::span<const Measurement* const> rows);

// The main results in sentences: for each model the best device at each batch, the batches at which one device
// overtakes another, with intervals, and what binds the best step.

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
    Spread ratio{1, 1, 1};
};

/// Every crossing of `ratios`, which must be sorted by batch. `first` and `second` name the devices.
std::vector<Crossover> crossovers(const std::string& first, const std::string& second,
                                  std::span<const RatioAtBatch> ratios);

/// For each model, precision and source of images, the best device in one sentence and the answer about its best step
/// with at most so many actions; empty without training steps.
std::vector<std::string> summary(std::span<const Study> studies, std::size_t actions = most_actions);

}  // namespace roof::analysis
