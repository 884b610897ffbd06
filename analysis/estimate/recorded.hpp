// A step that another program counted, such as the Python package of any model of PyTorch: a results folder whose rows
// are of the bench `estimate`, analytic and without times. What a layer does besides its products stands in a row of
// layers.csv of its own, of another kind; `implementation` there has the extents of what the products make, or "FLOPs
// unknown" where not all are counted. memory.csv has an allocation for each of these, by its `phase`:
//   parameters    of each layer, in the format of the row's precision       weights      all of them as they are stored
//   inputs        of the step                                               activations  what the forward pass keeps
//   for the backward pass caches        what stays from token to token                            train, forward,
//   inference  the most that is alive besides
#pragma once

#include "analysis/estimate/estimate.hpp"

#include <filesystem>
#include <vector>

namespace roof::analysis {

inline constexpr std::string_view recorded_bench = "estimate";

struct RecordedEstimate {
    ModelEstimate counted;
    EstimateRequest request;  ///< as far as the row has it
};

/// One for each row. Throws InputError for a folder that is damaged or has no such row.
std::vector<RecordedEstimate> read_estimates(const std::filesystem::path& folder);

}  // namespace roof::analysis
