// `roof run MODEL --simulate`: cache misses of each part of a training step, simulated by callgrind, beside the
// analytic interval of bytes.
#pragma once

#include "ert/base/units.hpp"
#include "ert/method/bench/subject.hpp"
#include "tools/roof/console/context.hpp"
#include "tools/roof/programs/simulated_program.hpp"
#include "tools/roof/session/plans.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// One dump of callgrind: misses of loads and stores, in lines. A line is fetched before it is written.
struct Dump {
    int part = -1;     ///< -1: of none
    double first = 0;  ///< misses of the first level
    double last = 0;   ///< misses of the last level, which go to memory
};
/// Throws Error if `text` is neither.
Dump parse_dump(std::string_view text);

/// Bytes of a part. The misses are simulated; the interval is analytic.
struct SimulatedPart {
    std::string layer, kind, phase;
    Bytes compulsory, no_reuse;
    Bytes first, last;  ///< misses, in lines of 64 bytes
};

/// `parts`: as in explanation_json. Throws Error if a dump refers to an unknown part.
std::vector<SimulatedPart> simulated_parts(const nlohmann::json& parts, const std::vector<Dump>& dumps);

/// "in", "below" or "above" the interval, widened by 5% at both ends.
std::string_view place_of(Bytes moved, const SimulatedPart& part);

std::string simulation_text(const std::vector<SimulatedPart>& parts, const SimulatedCaches& caches);
nlohmann::json simulation_json(const std::vector<SimulatedPart>& parts, const SimulatedCaches& caches);

/// Restarts this program under valgrind with one thread and prints the simulated misses beside the analytic interval.
/// Under valgrind, runs the launches and prints the parts. Throws InputError for several items or without valgrind.
int simulate(const std::vector<Item>& items, const TrainOptions& options, bool json, Context& context);

// Counts cache misses of this process by valgrind's callgrind. A build without valgrind's header has no simulator.

/// The reason why this build has no simulator; empty if it has one.
std::string missing_simulator();

/// Whether this process runs under valgrind's simulator.
bool under_simulator();

/// Runs one launch to fill the caches, then one whose counts are dumped for each part under the name "part N".
void launch_for_simulator(Subject& subject, std::size_t parts);

}  // namespace roof
