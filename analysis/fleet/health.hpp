// One node, measured now, against the digests of its fleet.
#pragma once

#include "analysis/fleet/judge.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace roof::analysis {

/// A rate to that of the reference.
struct HealthRate {
    std::string ceiling;
    double ratio = 0;  ///< to the median
};

struct HealthFinding {
    std::string node;
    Finding finding = Finding::not_judged;
    std::string reason{};             ///< one line
    std::vector<NodeCeiling> low{};   ///< the lowest first
    std::vector<HealthRate> rates{};  ///< all that could be compared
    std::size_t nodes = 0;            ///< of the reference
};

/// What can be said of a node before it is measured: a finding if the reference has no other node, or none of one of `kinds`, those of the
/// digests that would be made.
std::optional<HealthFinding> judge_reference(const std::string& node, const std::vector<std::string>& kinds,
                                             const Fleet& reference);

/// `now`: digests of one node, of its CPU, of its GPUs, in any order. Each is compared with the newest digests of the other nodes of its kind,
/// by the plan and revision that most of them ran and that has most of its ceilings. `now` counts as one node more of that fleet, so it is
/// found as rarely by mistake as a healthy node there. Fewer than `fewest_compared` nodes show no scatter: then a rate is slow that is 10%
/// below their median, beyond its interval, or a kind's mean that is 5% below.
///
/// A lower bound of `now` counts as the rate: a node that is busy before its job is not what the job needs.
HealthFinding judge_health(const std::vector<Digest>& now, const Fleet& reference);

/// 0 fine, 1 found, 2 could not judge.
int status_of(const HealthFinding& finding);

/// "n17 is slow: …".
std::string health_line(const HealthFinding& finding);

/// Metrics in Prometheus' text format. `seconds`: what it took.
std::string health_metrics(const HealthFinding& finding, double seconds);

nlohmann::json health_json(const HealthFinding& finding, double seconds);

/// A Slurm prolog that runs `command` and drains the node if it exits with 1. `seconds`: after which the command is ended.
std::string health_prolog(const std::string& command, int seconds);

}  // namespace roof::analysis
