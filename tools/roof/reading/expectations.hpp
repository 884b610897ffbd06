// Predictions made before rows are measured, and answers to the hypotheses of a plan.
#pragma once

#include "analysis/study/study.hpp"
#include "ert/method/plan/plan.hpp"
#include "tools/roof/console/context.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace roof {

/// Predicts the training steps among the items on their devices, under this machine's calibration. Throws InputError
/// without a calibration.
std::vector<analysis::Prediction> predict(const std::vector<Item>& items, const Context& context);

/// Writes the predictions into the folder before its first row, and prints their fingerprint on `context.err`. Keeps
/// existing predictions. Throws InputError if the folder has rows but no predictions.
void keep_predictions(const std::vector<analysis::Prediction>& predictions, const std::filesystem::path& folder,
                      bool has_rows, const Context& context);

/// Answers the hypotheses of the study's plan from its rows, its calibration (named `here`) and the spec sheets.
void answer_expectations(analysis::Study& study);

/// The answers, and the predictions beside the measurements, in `columns` columns; empty if there are neither.
std::string expectations_text(const analysis::Study& study, int columns);

}  // namespace roof
