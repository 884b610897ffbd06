// The digest of a run: digest.csv in its results folder, from which fleets of machines are judged without the rows. A
// digest of more than 10 kB is compressed by gzip: zcat -f reads both.
//   what,name,value,low,high,unit,state,n,spec,rounds,block_checksum
// - fact: a name and a text: node, kind, plan, revision and time first; then what may explain a difference, such as
//   BIOS
// - ceiling: value and 95% interval in `unit`; no high end for a lower bound; the state; samples; the rate that the
//   core's spec allows; the rounds of the interval, which older digests lack
// - link: the bandwidth between two nodes; `name` is theirs with a blank between: "n17 n18"
// - end: the number of lines before it, without the header: a file without it is cut off
#pragma once

#include "ert/method/results/results.hpp"

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace roof::analysis {

inline constexpr std::size_t largest_digest = 1 << 20;  ///< bytes of its text, and of the file

struct DigestRate {
    std::string name;  ///< of the ceiling, as `roof compare` has it; of a link, its nodes: "n17 n18"
    std::string unit{};
    std::string state{};  ///< as name(Steadiness)
    double value = 0;     ///< SI
    double low = 0;
    double high = 0;  ///< infinity for a lower bound
    double spec = 0;  ///< what the core's spec allows at the measured clock; 0 if there is none
    int n = 0;        ///< samples
    int rounds = 0;   ///< over which the interval is Student's; 0: over samples, or not known

    /// It cannot be compared.
    bool is_lower_bound() const { return std::isinf(high); }
};

struct Digest {
    std::string node;
    std::string kind;      ///< CPU and its threads; the GPUs
    std::string plan;      ///< fingerprint of plan.yaml
    std::string revision;  ///< of roof
    std::string time;      ///< UTC, ISO 8601, of the newest row
    std::string run{};     ///< of its folder (run_of); empty in format 2
    std::map<std::string, std::string> facts{};
    std::vector<DigestRate> ceilings{};
    std::vector<DigestRate> links{};
};

/// The rates of a CPU's vector arithmetic by one instruction set on as many threads: one, their geometric mean, with
/// the name "cpu compute core mean of 8 avx2 threads=26", or each.
enum class Twins { as_mean, each };

/// Digest::kind of a run on these devices: the CPU's kind, and the models of the GPUs.
std::string kind_of(const Machine& machine, const std::vector<std::string>& devices);

/// The ceilings of a run, most useful first: memory and caches with all threads, arithmetic, latencies, links and small
/// pages, part of the threads; of equal names, such as those of two ways to load from one level, the fastest. A folder
/// without a node's name gives the digest the name "unknown".
Digest make_digest(const Results& results, Twins twins = Twins::as_mean);

/// The text of digest.csv, not compressed. Where not all fits, the last ceilings are left out first, links last; the
/// fact "left out" counts them.
std::string to_csv(const Digest& digest);

/// `file`: the text, or its compressed form. Throws InputError, which begins with `name`, for one that is longer than
/// `largest_digest`, cut off, or holds a number that is not finite or not positive, an interval without its value, a
/// repeated name or a node's name that is none.
Digest parse_digest(const std::string& file, const std::string& name);

/// Writes digest.csv whole or not at all. Does nothing for a run without ceilings.
void keep_digest(const Results& results);

}  // namespace roof::analysis
