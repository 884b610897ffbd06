// What is said of rows before they are measured, and what becomes of it: predictions, and the hypotheses of the plan.
#pragma once

#include "analysis/study/study.hpp"
#include "ert/method/plan/plan.hpp"
#include "tools/roof/console/context.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace roof {

/// The estimates of the training steps among the items, each on its device as this machine's calibration has it. Throws
/// InputError without a calibration.
std::vector<analysis::Prediction> predict(const std::vector<Item>& items, const Context& context);

/// Keeps predictions in the folder, before its first row, and says on `context.err` their fingerprint. A folder that has some
/// keeps those. Throws InputError if it has rows already and none.
void keep_predictions(const std::vector<analysis::Prediction>& predictions, const std::filesystem::path& folder,
                      bool has_rows, const Context& context);

/// Sets the answers to what the study's plan expects, from its rows, its calibration as `here`, and the spec sheets.
void answer_expectations(analysis::Study& study);

/// The answers, and the predictions beside the rows, in so many columns; empty if nothing was said before.
std::string expectations_text(const analysis::Study& study, int columns);

}  // namespace roof
