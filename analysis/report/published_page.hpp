// A page for a published study: its points under the spec-sheet roofs of their machines, its numbers beside the
// estimates, and its answered hypotheses. It contains no measurement.
#pragma once

#include "analysis/estimate/hypothesis.hpp"
#include "analysis/estimate/published.hpp"

#include <span>
#include <string>

namespace roof::analysis {

/// HTML that needs no network. It has a picture for each machine with a published FLOP rate and a target.
std::string published_page(const std::string& study, std::span<const Assessment> assessments,
                           std::span<const Answered> answers, std::span<const Target> targets);

}  // namespace roof::analysis
