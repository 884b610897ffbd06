// What hypotheses can ask: of estimates on machines, and of the rows that were measured.
//   bound intensity ridge peak time prediction images_per_second epoch memory largest_batch fits (MODEL, MACHINE)
//   flops parameters (MODEL)
//   measured_time measured_rate measured_images_per_second measured_memory measured_wait measured_status (MODEL)
// Options by name: batch precision phase devices link images; of what was measured, batch precision data device.
#pragma once

#include "analysis/estimate/hypothesis.hpp"
#include "analysis/estimate/machine_estimate.hpp"
#include "ert/method/bench/measurement.hpp"

#include <span>
#include <vector>

namespace roof::analysis {

/// What facts are drawn from. Everything must outlive the knowledge made of it.
struct FactSources {
    std::span<const Target> targets;    ///< by the name a hypothesis uses
    std::span<const Measurement> rows;  ///< of the study's own run; may be empty
    EstimateRequest usual;              ///< for options a hypothesis leaves out; its model is not used
};

/// A machine or a row that is not there makes a fact unknown; a word that is none of the above throws InputError.
Knowledge knowledge_of(const FactSources& sources);

}  // namespace roof::analysis
