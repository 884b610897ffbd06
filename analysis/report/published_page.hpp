// A page for a published study: its points on the spec-sheet rooflines of their machines, its numbers beside the estimate, and
// its hypotheses answered. Nothing on it was measured here.
#pragma once

#include "analysis/estimate/hypothesis.hpp"
#include "analysis/estimate/published.hpp"

#include <span>
#include <string>

namespace roof::analysis {

/// HTML that needs no network. A picture for each machine of which a FLOP rate is published and a target known.
std::string published_page(const std::string& study, std::span<const Assessment> assessments,
                           std::span<const Answered> answers, std::span<const Target> targets);

}  // namespace roof::analysis
