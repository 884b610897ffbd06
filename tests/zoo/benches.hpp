// The benches of a simulated machine: those of the real CPU, with their axes and reasons, whose subjects take the time
// that the machine gives them.
#pragma once

#include "ert/method/bench/bench_registry.hpp"
#include "tests/zoo/world.hpp"

#include <memory>
#include <string>

namespace roof::zoo {

/// The registry of one calibration; the world keeps its time.
BenchRegistry registry_of(const std::shared_ptr<World>& world);

/// What a launch of that point was kept under in the world: the level that serves the whole set alone is part of it; ""
/// if none does.
std::string key_of_arithmetic(const std::string& operation, const std::string& isa, const std::string& precision,
                              int threads, bool packs_cores);
std::string key_of_bandwidth(const std::string& operation, int threads, bool has_small_pages, std::size_t level);
std::string key_of_latency(bool has_small_pages, std::size_t level);

}  // namespace roof::zoo
