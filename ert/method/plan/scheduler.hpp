// Decides what to measure next, given the rows so far. Most items are known from the plan. Some depend on earlier rows:
// a working set given by a keyword is resolved from the sweeps, and an unsteady ceiling may get extra rounds.
//
// Resolves the keywords of the axis `working_set` from the sweeps of loads and latencies:
//   levels   for each cache the three largest sizes that it alone serves, where prefetchers are effective, and the two
//   neighbours at which
//            loads are fastest; for memory the largest size
//   memory   that largest size alone
//   fastest  the size at which the level's loads are fastest
//   edges    two sizes between one level and the next
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/plan/plan.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace roof {

class Scheduler {
  public:
    /// These items, and nothing after them.
    explicit Scheduler(std::vector<Item> items) : planned_(std::move(items)) {}
    /// The plan's items in their rounds, then the items with keywords, in as many rounds. With several rounds, first
    /// what roofs need: the widest multiply-adds, loads, and a copy on each level that these show. If the plan has an
    /// end, each round is spread: any beginning of it holds the same share of every entry, over the whole range of its
    /// axes. Throws InputError, as `expand` does.
    Scheduler(Plan plan, const BenchRegistry& registry, const Settings& settings = {}, std::string only = {});

    /// The next items without a row, by the rows alone, so that a stopped run continues; empty at the plan's end.
    std::vector<Item> next(std::span<const Measurement> rows) const;

    /// The planned items without a row.
    std::vector<Item> left(std::span<const Measurement> rows) const;

    /// After the plan is complete: one more round of each ceiling that was not steady after the planned ones, until it
    /// has all that the plan allows. Optional.
    std::vector<Item> extra_rounds(std::span<const Measurement> rows) const;

    /// Time of the run after which no extra round begins; 0: no limit.
    Seconds extra_rounds_until() const { return plan_.extra_rounds_until; }

    /// Time of the run after which nothing begins; 0: no limit.
    Seconds end_after() const { return plan_.end_after; }

    /// Extra rounds of ceilings that are not steady go on, however many they had: until `time` of the run is over, or
    /// without one as long as the plan allows. A plan without a limit of time keeps its number of rounds.
    void grant(Seconds time);

    /// The items known before anything is measured.
    const std::vector<Item>& planned() const { return planned_; }

  private:
    /// The open items at the sizes that the rows of `known` show.
    std::vector<Item> at_sizes_of(const std::vector<Item>& known, std::span<const Measurement> rows,
                                  const std::vector<Item>& open) const;

    std::vector<Item> planned_;
    std::size_t needed_ = 0;  ///< of these, the first, which roofs need
    std::vector<Item> open_;
    std::vector<Item> copies_{};  ///< open ones of the first round, which roofs need as well
    Plan plan_;
    int all_rounds_ = 1;                       ///< of a ceiling, unless time for more is granted
    const BenchRegistry* registry_ = nullptr;  ///< null: no keywords and no extra rounds
    std::string only_;
};

/// Bytes, ascending, by device, threads and keyword.
using ResolvedSizes = std::map<std::tuple<std::string, int, std::string>, std::vector<long long>>;

/// From sweeps of loads and latencies; a device and thread count without has no sizes. `takes`: rows that count.
ResolvedSizes resolve_sizes(std::span<const Measurement> rows, const Machine& machine,
                            const std::function<bool(const Measurement&)>& takes = {});

/// The open ones of these items, with each size for their keyword, device and threads in place of the keyword; once
/// each. May be empty.
std::vector<Item> at_sizes(const std::vector<Item>& items, const ResolvedSizes& sizes);

}  // namespace roof
