// Cache lines that simulated caches miss in each part of a training step, beside the analytic interval of bytes.
#pragma once

#include "ert/base/units.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// A simulated cache, as valgrind takes it: "size,associativity,line".
struct SimulatedCache {
    std::size_t bytes = 0;
    std::size_t ways = 8;

    std::string option() const;
};

/// A cache of about this capacity that valgrind can simulate: the number of sets is a power of two, with at least 8 ways.
SimulatedCache simulated_cache(Bytes capacity);

/// Misses of loads and stores; a line is fetched before it is written.
struct Misses {
    double first = 0;  ///< lines into the first level
    double last = 0;   ///< lines into the last, from memory

    Misses& operator+=(const Misses& other);
};

/// One dump of callgrind: the number of its part and its counts; -1 for a dump that belongs to no part.
struct Dump {
    int part = -1;
    Misses misses;
};
/// Throws Error if `text` is not a dump of callgrind.
Dump parse_dump(std::string_view text);

/// Bytes of a part: the misses are simulated, the interval is analytic.
struct SimulatedPart {
    std::string layer, kind, phase;
    Bytes compulsory, no_reuse;
    Bytes first, last;  ///< misses, in lines of 64 bytes
};

/// `parts`: as in explanation_json. Throws Error if a dump names an unknown part.
std::vector<SimulatedPart> simulated_parts(const nlohmann::json& parts, const std::vector<Dump>& dumps);

/// "in", "below" or "above" the interval, widened by 5% at both ends.
std::string_view place_of(Bytes moved, const SimulatedPart& part);

std::string simulation_text(const std::vector<SimulatedPart>& parts, const SimulatedCache& first,
                            const SimulatedCache& last);
nlohmann::json simulation_json(const std::vector<SimulatedPart>& parts, const SimulatedCache& first,
                               const SimulatedCache& last);

}  // namespace roof
