// One node, measured now, against the digests of its fleet: what a prolog can tell without Python. `roof fleet` tells
// smaller differences.
#pragma once

#include "analysis/fleet/digest.hpp"
#include "ert/base/estimate.hpp"
#include "ert/base/names.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace roof::analysis {

struct Fleet {
    std::vector<Digest> digests;  ///< ordered by node and time
};

/// The digest of a file, or the digests in a folder down to six levels, which anybody may have written: only regular
/// files are read, no link is followed, and a folder that cannot be used is passed over (`roof fleet` names it). Throws
/// InputError for a place that is neither, for a file that is no digest, and for more than `most_entries`.
Fleet read_fleet(const std::filesystem::path& place, std::size_t most_entries = 1'000'000);

/// In rising order: the last counts where several are true. Changed kind: fewer processors or devices than the others
/// have.
enum class Finding { fine, not_judged, changed_kind, slow };
constexpr EnumNames<Finding::slow> names_of(Finding)
{
    return {"finding", {"fine", "not judged", "changed kind", "slow"}};
}

/// A rate, or the mean of a kind's rates, to the median of the reference.
struct HealthRate : Spread {
    std::string ceiling;
};

struct HealthFinding {
    std::string node;
    Finding finding = Finding::not_judged;
    std::string reason{};             ///< one line
    std::vector<HealthRate> low{};    ///< the slow ones, the lowest first
    std::vector<HealthRate> rates{};  ///< all that could be compared
    std::size_t nodes = 0;            ///< of the reference
};

/// What can be said of a node before it is measured: a finding if the reference has no other node, or none of one of
/// `kinds`, those of the digests that would be made.
std::optional<HealthFinding> judge_reference(const std::string& node, const std::vector<std::string>& kinds,
                                             const Fleet& reference);

/// `now`: digests of one node, of its CPU, of its GPUs, in any order. Each rate is compared with the newest ones of
/// the other nodes of its kind. It is slow if it is 10% below their median, beyond its interval, and the mean of a
/// kind's rates (memory, cache, compute, link, latency) if it is 5% below; from five other nodes on also by five
/// standard deviations of theirs, 1.4826 times the median of the distances from the median.
///
/// A lower bound of `now` counts as the rate: a node that is busy before its job is not what the job needs. Lower
/// bounds of the others count where fewer than five of them have a rate: they lie too low, so that no node looks slow
/// by that.
HealthFinding judge_health(const std::vector<Digest>& now, const Fleet& reference);

/// 0 fine, 1 found, 2 could not judge.
int status_of(const HealthFinding& finding);

/// "n17 is slow: …".
std::string health_line(const HealthFinding& finding);

/// Metrics in Prometheus' text format. `seconds`: what it took.
std::string health_metrics(const HealthFinding& finding, double seconds);

nlohmann::json health_json(const HealthFinding& finding, double seconds);

/// A Slurm prolog (slurm_prolog.sh) that runs `command`, a line of quoted words, and drains the node if it exits
/// with 1. `seconds`: after which the command is ended.
std::string health_prolog(const std::string& command, int seconds);

/// "cpu memory" of "cpu bandwidth DRAM load threads=26"; empty for a name of another form.
std::string kind_of_ceiling(const std::string& name);

}  // namespace roof::analysis
