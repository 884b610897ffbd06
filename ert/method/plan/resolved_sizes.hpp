// Sizes that a sweep has shown, for the plans that ask for them by a word: `levels`, neighbouring working sets that nearly fill
// each cache, two that all but fill it where pages can be chosen, and where loads are fastest elsewhere in it, that size and one just
// above it, and the largest in memory; `memory`, that alone; `fastest`, a size at which the level's loads are fastest; `edges`,
// working sets between one level and the next.
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

/// Bytes, ascending, by device, threads and word.
using ResolvedSizes = std::map<std::tuple<std::string, int, std::string>, std::vector<long long>>;

/// From the load sweeps among the rows; a device and thread count without one has none.
ResolvedSizes resolve_sizes(std::span<const Measurement> rows, const Machine& machine);

/// An entry's axes with their values.
using Axes = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Whether a value among them is a word for what other rows show.
bool has_keyword(const Axes& axes, const Bench& bench, const BenchRegistry& registry);

/// The sizes that the item's word stands for on its device and with its threads; none if nothing was found for it.
std::vector<std::string> sizes_for(const Item& item, const ResolvedSizes& sizes);

/// Whether any entry of the plan asks for sizes by a word.
bool uses_keywords(const Plan& plan, const BenchRegistry& registry, const Settings& settings);

/// As `expand`, of the entries that ask for sizes by a word, each word replaced by the sizes found for the item's device and
/// threads. Empty if there are none.
std::vector<Item> expand_keywords(const Plan& plan, const BenchRegistry& registry, const ResolvedSizes& sizes,
                                  const Settings& settings, const std::string& only);

}  // namespace roof
