// Blind prediction: the estimate of every row of a sweep, written down with a fingerprint before the first is measured, and held
// against the rows afterwards. The prediction is the time without overlap (analysis/estimate/machine_estimate.hpp).
#pragma once

#include "analysis/estimate/machine_estimate.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/bench/point.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// Beside a folder's rows.
constexpr std::string_view predictions_file = "predictions.csv";

struct Prediction {
    std::string row;    ///< Measurement::id() of the row it predicts
    Seconds least;      ///< layer by layer: no step can be faster
    Seconds predicted;  ///< without overlap
    Bytes memory;
    bool fits = true;
};

/// Of a training step: a point with model, batch and precision. Nothing for a point of another kind, and for a precision the
/// target has no ceiling of. Throws InputError for a model that is none.
std::optional<Prediction> predict(const std::string& row, const Point& point, const Target& target);

/// predictions.csv: row, least_s, predicted_s, memory_bytes, fits. Reads back bit for bit.
std::string to_csv(std::span<const Prediction> predictions);
/// Throws InputError with file and line.
std::vector<Prediction> parse_predictions(std::string_view text, const std::string& name);

/// 64 bits (FNV-1a) of a text in 16 hexadecimal digits: printed before measuring, it shows that a file was not written after.
std::string fingerprint(std::string_view text);

struct PredictionError {
    Prediction prediction;
    Status status = Status::ok;
    Seconds measured;   ///< 0 unless ok
    double error = 0;   ///< predicted over measured, less 1
    bool right = true;  ///< about whether it fits
};

/// For people: row, predicted, measured or what became of it, error, memory.
std::array<std::string, 5> cells_of(const PredictionError& error);

/// "+3.4%", "-12%".
std::string signed_percent(double share);

/// Rows without a prediction, and predictions without a row, are left out.
struct PredictionErrors {
    std::vector<PredictionError> rows;  ///< as the predictions stand
    double median = 0;                  ///< of |error|, over rows that are ok
    double worst = 0;
};
PredictionErrors errors_of(std::span<const Prediction> predictions, std::span<const Measurement> rows);

/// A table, and the median and the worst error in a sentence, in so many columns; 0: as wide as they are.
std::string to_text(const PredictionErrors& errors, int columns = 0);

}  // namespace roof::analysis
