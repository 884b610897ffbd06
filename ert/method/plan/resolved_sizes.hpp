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
#include <vector>

namespace roof {

/// Bytes, ascending, by device, threads and keyword.
using ResolvedSizes = std::map<std::tuple<std::string, int, std::string>, std::vector<long long>>;

/// From the load sweeps among the rows; a device and thread count without a sweep has no sizes.
ResolvedSizes resolve_sizes(std::span<const Measurement> rows, const Machine& machine);

/// The open ones of these items, with each size for their keyword, device and threads in place of the keyword; once each. May be empty.
std::vector<Item> at_sizes(const std::vector<Item>& items, const ResolvedSizes& sizes);

}  // namespace roof
