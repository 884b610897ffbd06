// The axes of data-parallel training, and their values in a point.
#pragma once

#include "ert/method/bench/bench.hpp"
#include "workloads/parallel/exchange.hpp"

#include <optional>
#include <string>
#include <vector>

namespace roof::parallel {

struct Options {
    int ranks = 1;
    long long batch = 1;  ///< of one rank
    Mode mode = Mode::overlapped;
    std::size_t bucket_bytes = 25'000'000;
    bool synchronised_batch_norm = false;
};

/// `ranks`, `scaling`, `communication`, `bucket_mb`, `batch_norm`: all optional, but `ranks` where MPI started this
/// process among others: then as many are usual.
std::vector<Axis> axes();

/// The values in the point, or their defaults. Throws InputError.
Options options_of(const Point& point);

/// The reason why this machine cannot run the point's ranks, or none.
std::optional<std::string> unsupported_reason(const Point& point);

}  // namespace roof::parallel
