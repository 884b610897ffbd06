// Resolves the keywords of the axis `working_set` from a load sweep:
//   levels   for each cache the three largest sizes on it, where prefetchers are effective and the previous level holds little of the set,
//            and the two neighbours at which loads are fastest; for memory the largest size
//   memory   that largest size alone
//   fastest  the size at which the level's loads are fastest
//   edges    two sizes between one level and the next
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/plan/plan.hpp"

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace roof {

/// Bytes, ascending, by device, threads and keyword.
using ResolvedSizes = std::map<std::tuple<std::string, int, std::string>, std::vector<long long>>;

/// From the load sweeps among the rows; a device and thread count without a sweep has no sizes.
ResolvedSizes resolve_sizes(std::span<const Measurement> rows, const Machine& machine);

/// An entry's axes with their values.
using Axes = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Whether any value is a keyword of its axis.
bool has_keyword(const Axes& axes, const Bench& bench, const BenchRegistry& registry);

/// The sizes for the item's keyword, device and threads; none if there are none.
std::vector<std::string> sizes_for(const Item& item, const ResolvedSizes& sizes);

/// Whether any entry of the plan uses a keyword.
bool uses_keywords(const Plan& plan, const BenchRegistry& registry, const Settings& settings);

/// As `expand`, for the entries with keywords, each replaced by the sizes for the item's device and threads. May be empty.
std::vector<Item> expand_keywords(const Plan& plan, const BenchRegistry& registry, const ResolvedSizes& sizes,
                                  const Settings& settings, const std::string& only);

}  // namespace roof
