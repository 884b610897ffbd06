// The answer about one step: what binds it, and what is most worthwhile to do about it. docs/method.md, section 7, has the rules.
// Terminal, page and JSON take it from here.
#pragma once

#include "analysis/study/study.hpp"

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
};
/// The answer for a measured step.
StepAnswer answer_of(const Study& study, const Measurement& row);

/// The headline and the first actions in sentences, without the name of the step; empty for a step that was not measured.
std::string answer_text(const Study& study, const Measurement& row, std::size_t actions = most_actions);

}  // namespace roof::analysis
