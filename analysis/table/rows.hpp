// The parts of a row's point that every table, picture and file shows.
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/measurement.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// The name of the model, also of one whose layers a plan has; or of the bench if the point has no model.
std::string model_of(const Measurement& row);
/// Images per step; 0 if the point has no batch. Throws InputError if it is not a whole number.
long long batch_of(const Measurement& row);
/// "8"; for two ranks "8 x 2" under weak scaling and "8 / 2" under strong scaling; "-" if the point has no batch.
std::string batch_text(const Measurement& row);
/// "cpu"; for several ranks "cpu, 2 ranks" and the options of their communication.
std::string place_text(const Measurement& row);
/// Threads of the row; 0 if the point has none. Throws InputError if it is not a whole number.
int threads_of(const Measurement& row);
/// Source of the images: "synthetic", "hashed", or the last name of a folder's path; "-" if the point has none.
std::string data_of(const Measurement& row);
/// Whether the ends of the interval of a measured row are more than a factor of two apart.
bool is_unstable(const Measurement& row);
/// The status; "unstable" for such a row.
std::string status_text(const Measurement& row);
/// "2 of 9 samples disturbed: steal"; "no disturbance was recorded in 9 samples".
std::string disturbances(const Measurement& row);
/// Whose rates they are: the model of a GPU, "2 x MODEL" of a group, and for a CPU the name of the machine, which is its CPU's.
std::string owner_of(const Machine& machine, const std::string& device);
/// The precision; empty if the point has none.
std::string precision_of(const Measurement& row);
/// How a time is known: "measured", or "emulated" on an emulated device, which tests have. `text`: a device's model, or a
/// row's or ceiling's description or variant.
std::string_view timed(std::string_view text);

/// The rows of training steps, grouped by model, otherwise in their order.
std::vector<const Measurement*> step_rows(std::span<const Measurement> rows);
/// For each model, device, ranks, precision and thread count: the measured row with the largest batch.
std::vector<const Measurement*> largest_batches(std::span<const Measurement> rows);

}  // namespace roof::analysis
