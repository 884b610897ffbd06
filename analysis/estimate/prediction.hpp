// Blind prediction: the estimate of every row of a sweep, saved with a fingerprint before the first row is measured,
// and compared with the rows afterwards. The prediction is the time without overlap, with its interval
// (machine_estimate.hpp).
#pragma once

#include "analysis/estimate/machine_estimate.hpp"
#include "analysis/table/table.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/bench/point.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

constexpr std::string_view predictions_file = "predictions.csv";

struct Prediction {
    std::string row;    ///< Measurement::id() of the row it predicts
    Seconds least;      ///< layer by layer: no step is faster that fuses no layers
    Seconds predicted;  ///< without overlap
    Bytes memory;
    bool fits = true;
    TimeRange range{};      ///< of the predicted time; files of earlier revisions have none
    bool is_tried = false;  ///< by a trial (trial_of), not by the roofs alone
};

/// Predicts a training step: a point with model, batch and precision. Of a row whose convolutions take the fastest
/// algorithm the interval reaches down to what Winograd's products allow. nullopt for other points and for a precision
/// without a ceiling on the target. `trial`: trial_of() the point, as it was measured; null: by the roofs alone. Throws
/// InputError for an unknown model.
std::optional<Prediction> predict(const std::string& row, const Point& point, const Target& target,
                                  const Measurement* trial = nullptr);

/// predictions.csv: row, least_s, predicted_s, low_s, high_s, memory_bytes, fits. Numbers are exact; an end that is not
/// known is empty.
std::string to_csv(std::span<const Prediction> predictions);
/// Throws InputError with file and line.
std::vector<Prediction> parse_predictions(std::string_view text, const std::string& name);

/// The 64-bit FNV-1a hash of a text, as 16 hexadecimal digits. It is printed before measuring, so it proves that the
/// prediction is older than the measurement.
std::string fingerprint(std::string_view text);

struct PredictionError {
    Prediction prediction;
    Status status = Status::ok;
    Seconds measured;   ///< 0 unless ok
    double error = 0;   ///< predicted over measured, less 1
    bool right = true;  ///< whether it fits was predicted correctly
    std::optional<bool>
        held;  ///< whether the predicted interval has the measured median; nothing unless both are known
};

/// The errors of all predicted rows. Rows without a prediction and predictions without a row are left out.
struct PredictionErrors {
    std::vector<PredictionError> rows;  ///< in the order of the predictions
    double median = 0;                  ///< median |error| of the rows that are ok
    double worst = 0;
    int held = 0, judged = 0;  ///< rows whose interval held, of those that have one and were measured
    int busy = 0;              ///< rows beside which the machine was busy
};
PredictionErrors errors_of(std::span<const Prediction> predictions, std::span<const Measurement> rows);

DataTable predictions_table(const PredictionErrors& errors);

/// "median 8%, worst 25%; the interval held 13 of 14; the machine was busy beside 2 of the rows".
std::string summary(const PredictionErrors& errors);

/// The table, and its summary, in at most `columns`; 0: unlimited.
std::string to_text(const PredictionErrors& errors, int columns = 0);

// The trial of a prediction: a step of a few layers like the row's, measured when the row is predicted. It shows how
// many times the time without overlap (machine_estimate.hpp) each kind of work takes by the loops of this machine:
// predicted = sum over kinds of (time without overlap of the row * measured / without overlap of the trial)
// The roofs and their usual rates cancel where both have the same.

/// The request for a training step at this point, which has model, batch and precision.
EstimateRequest request_of(const Point& point);

/// The trial of a row: layers of convolutions, of tokens, or of one token over a cache, with the row's precision,
/// threads, algorithm and optimizer. nullopt for a row of several ranks or without model, batch and precision.
std::optional<Point> trial_of(const Point& row);

/// The row's time by its trial, as it was measured. nullopt where one of them has no estimate on the target, or the
/// trial was not measured.
std::optional<Seconds> predicted_by(const Measurement& trial, const MachineEstimate& row, const Target& target);

}  // namespace roof::analysis
