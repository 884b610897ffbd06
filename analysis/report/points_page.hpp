// A page with points of one's own under the measured roofs of their devices.
#pragma once

#include "analysis/study/study.hpp"

#include <string>

namespace roof::analysis {

/// HTML that needs no network and no script. A point without bytes is a horizontal line: its rate is known, its
/// intensity is not.
std::string points_page(const Study& study);

}  // namespace roof::analysis
