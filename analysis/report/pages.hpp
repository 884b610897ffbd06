// Pages beside the report: HTML that needs no network and no script.
#pragma once

#include "analysis/estimate/published.hpp"
#include "analysis/study/study.hpp"

#include <span>
#include <string>

namespace roof::analysis {

/// Points of one's own under the measured roofs of their devices. A point without bytes is a horizontal line: its rate is
/// known, its intensity is not.
std::string points_page(const Study& study);

/// A published study: its points under the spec-sheet roofs of their machines, its numbers beside the estimates, and its
/// answered hypotheses. It contains no measurement. It has a picture for each machine with a published FLOP rate and a target.
std::string published_page(const std::string& study, std::span<const Assessment> assessments,
                           std::span<const Answered> answers, std::span<const Target> targets);

}  // namespace roof::analysis
