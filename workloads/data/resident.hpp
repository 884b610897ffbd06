// Sources with one batch in memory. A step that uses them measures no input pipeline.
#pragma once

#include "workloads/data/source.hpp"

namespace roof::data {

/// Normal values with mean 0 and variance 1; labels uniform in [0, classes); seed 1.
Source synthetic_source(int batch, const model::Shape& image, int classes, const Share& share = {});

/// Values of hashed_input() and labels of hashed_label() (workloads/model/hashed.hpp).
Source hashed_source(int batch, const model::Shape& image, int classes, const Share& share = {});

}  // namespace roof::data
