// What a row of results is called: the words every table, picture and file of the analysis uses for it.
#pragma once

#include "ert/method/bench/measurement.hpp"

#include <span>
#include <string>
#include <vector>

namespace roof::analysis {

/// The model's name; the bench's, if the point has no model.
std::string model_of(const Measurement& row);
/// Images per step; 0 if the point has no batch. Throws InputError if it is no whole number.
long long batch_of(const Measurement& row);
/// "8"; of two ranks "8 x 2" under weak scaling, "8 / 2" under strong; "-" if the point has no batch.
std::string batch_text(const Measurement& row);
/// "cpu"; of several ranks "cpu, 2 ranks", with what else of their exchange the point says.
std::string place_text(const Measurement& row);
/// Threads the row ran with; 0 if the point does not say. Throws InputError if it is no whole number.
int threads_of(const Measurement& row);
/// Where the images come from: "synthetic", "hashed", or the last name of a folder's path; "-" if the point does not say.
std::string data_of(const Measurement& row);
/// Empty if the point does not say.
std::string precision_of(const Measurement& row);

/// The rows of training steps, by model in order of appearance, then as they stand.
std::vector<const Measurement*> step_rows(std::span<const Measurement> rows);
/// For each model, device, ranks, precision and thread count: the measured row with the largest batch.
std::vector<const Measurement*> largest_batches(std::span<const Measurement> rows);

}  // namespace roof::analysis
