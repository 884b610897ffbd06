// Sources whose one batch is made once and stays where it is: a step under them measures no input pipeline.
#pragma once

#include "workloads/data/source.hpp"

namespace roof::data {

/// Normal values of mean 0 and variance 1, labels uniform in [0, classes), seed 1.
Source synthetic_source(int batch, const model::Shape& image, int classes, const Share& share = {});

/// hashed_input() and hashed_label() of workloads/model/hashed.hpp.
Source hashed_source(int batch, const model::Shape& image, int classes, const Share& share = {});

}  // namespace roof::data
