// The alpha-beta model fitted to the measured messages of the bench `network` (workloads/parallel/network_bench.hpp):
//   a message        t = alpha + bytes / beta
//   an all-reduce    t = 2(n-1) alpha + 2(n-1)/n * bytes / beta     over n ranks, in a ring
// Small and large messages count alike: the fit minimises relative errors. Intervals come from a bootstrap over the
// samples of each size. They do not contain the model's own error, which `misfit` shows.
#pragma once

#include "ert/base/estimate.hpp"
#include "ert/base/units.hpp"
#include "ert/method/ceilings/point_summary.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace roof::analysis {

/// One size of message: its time is steps * alpha + bytes / beta.
struct MessagePoint {
    std::string path;       ///< "0-1"; "2x1" is two nodes with one rank each
    std::string operation;  ///< pair, ring or allreduce
    int ranks = 2;
    Bytes size;
    double steps = 1;
    Bytes bytes;
    std::vector<double> seconds;  ///< of one message or all-reduce, by launch
    Estimate<ByteRate> rate;      ///< bytes that one rank sends, as the ceiling is estimated
    int rounds = 0;               ///< over which its interval is Student's; 0: over samples
    bool is_lower_bound = false;  ///< the rate: its samples were disturbed, or too few
    std::string nodes;            ///< "n1 n2, Open MPI v4.1.4"
};

/// The measured messages among the rows, sorted by operation, path and size.
std::vector<MessagePoint> messages_in(std::span<const Measurement> rows);

struct AlphaBeta {
    Seconds alpha;
    ByteRate beta;

    Seconds of(const MessagePoint& point) const { return point.steps * alpha + point.bytes / beta; }
};

struct NetworkFit {
    AlphaBeta best;
    Estimate<Seconds> alpha;  ///< ends NaN if they are not known: no size has two samples
    Estimate<ByteRate> beta;
    Estimate<ByteRate> plateau;     ///< of the fastest size, measured
    bool plateau_is_bound = false;  ///< it is a lower bound
    double misfit = 0;              ///< the largest |predicted / measured - 1| over the sizes
    std::vector<AlphaBeta> draws;   ///< of the bootstrap
};

/// Needs two sizes; the same seed gives the same fit. Throws InputError where the points do not allow a fit.
NetworkFit fit_network(std::span<const MessagePoint> points);

/// Of each pair of nodes, "n1 n2", the largest measured message; pairs on one node are left out.
std::vector<std::pair<std::string, const MessagePoint*>> links_in(std::span<const MessagePoint> points);

}  // namespace roof::analysis
