// Predictions made before rows are measured.
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

/// The predictions beside the measurements, in `columns` columns; empty without them.
std::string predictions_text(const analysis::Study& study, int columns);

}  // namespace roof
