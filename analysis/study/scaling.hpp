// Training on several ranks: throughput relative to one rank, and the cost of communication.
#pragma once

#include "analysis/study/study.hpp"
#include "ert/method/bench/measurement.hpp"

#include <span>
#include <string>
#include <vector>

namespace roof::analysis {

/// Rate of each rank's link each way during communication: link_bytes() (roofs.hpp) over exposed plus hidden time. 0 for
/// one rank.
ByteRate bus_bandwidth(const Measurement& row);

/// A row of several ranks, and the row of one rank at the same point.
struct Scaling {
    const Measurement* row = nullptr;
    const Measurement* alone = nullptr;  ///< null if the study has none
    double speedup = 0;                  ///< images per second over those of one rank
    double efficiency = 0;               ///< speedup over ranks
    /// The fastest measured all-reduce between GPUs; null if there is none, and for ranks of a CPU.
    const Ceiling* link = nullptr;
};

/// Measured rows of several ranks, grouped by model. `alone` has one rank's share of the threads; its batch is that of
/// one rank under weak scaling and the whole batch under strong scaling.
std::vector<Scaling> scalings(const Study& study);

}  // namespace roof::analysis
