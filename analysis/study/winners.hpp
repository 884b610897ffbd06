// Which device is fastest at which batch, over one or several studies: a row for each device of a step, with what was not
// measured and why.
#pragma once

#include "analysis/study/study.hpp"
#include "analysis/table/table.hpp"

#include <span>

namespace roof::analysis {

/// The steps that a plan asked for on more than one device, thread count or machine, by model, precision, images and batch;
/// the fastest first. "slower": its interval of the ratio excludes 1; else "not told apart". Steps that no device ran are for programs only.
DataTable winners_table(std::span<const Study> studies);

}  // namespace roof::analysis
