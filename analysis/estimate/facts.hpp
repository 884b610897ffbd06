// The functions of hypotheses: estimates on machines, and measured rows.
//   bound intensity ridge peak time prediction images_per_second epoch memory largest_batch fits (MODEL, MACHINE)
//   flops parameters (MODEL)
//   measured_time measured_rate measured_images_per_second measured_memory measured_wait measured_status (MODEL)
// Named options: batch precision phase devices link images; for measured rows batch precision data device.
#pragma once

#include "analysis/estimate/hypothesis.hpp"
#include "analysis/estimate/machine_estimate.hpp"
#include "ert/method/bench/measurement.hpp"

#include <span>
#include <vector>

namespace roof::analysis {

/// The sources of facts. They must outlive the Knowledge.
struct FactSources {
    std::span<const Target> targets;    ///< machines by their names in hypotheses
    std::span<const Measurement> rows;  ///< measured rows of the study; may be empty
    EstimateRequest usual;              ///< defaults of options; its model is not used
};

/// An unknown machine or row makes a fact unknown; an unknown function throws InputError.
Knowledge knowledge_of(const FactSources& sources);

}  // namespace roof::analysis
