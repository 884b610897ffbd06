// Tables of measured messages and of efficiencies predicted for more nodes.
#pragma once

#include "analysis/estimate/network_fit.hpp"
#include "analysis/estimate/node_scaling.hpp"
#include "analysis/table/table.hpp"

namespace roof::analysis {

/// A row for each operation and path: alpha, beta and plateau.
DataTable network_table(std::span<const MessagePoint> points);
/// A row for each number of nodes.
DataTable scaling_prediction_table(const ScalingPrediction& prediction);
/// Measured rows beside what was predicted for them.
DataTable held_out_table(const ScalingPrediction& prediction);

/// The fit, both tables and the notes, in at most `columns`; 0: unlimited.
std::string to_text(const ScalingPrediction& prediction, int columns = 0);
/// Keys model, one_rank, alpha_s, beta_bytes_per_s, misfit, gradients_bytes, nodes, held_out, notes.
nlohmann::json to_json(const ScalingPrediction& prediction);

/// The table of a folder's messages; empty without messages.
std::string network_text(std::span<const Measurement> rows, int columns = 0);

}  // namespace roof::analysis
