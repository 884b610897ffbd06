// Which calibration a results folder is read under.
#pragma once

#include "analysis/study/study.hpp"
#include "tools/roof/console/context.hpp"

#include <filesystem>

namespace roof {

/// With `calibration` if given; else the newest that lies beside the folder, or under this machine's results.
analysis::Study open_with_calibration(const std::filesystem::path& folder, const std::filesystem::path& calibration,
                                      const Context& context);

}  // namespace roof
