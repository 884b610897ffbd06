// Lines that simulated caches miss in each part of a training step, beside the interval of bytes that the analysis gives it.
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

/// A cache of about this capacity, with 8 ways or more and as many sets as a power of two, which is what can be simulated.
SimulatedCache simulated_cache(Bytes capacity);

/// Of loads and stores; a line that is to be written is fetched first.
struct Misses {
    double first = 0;  ///< lines into the first level
    double last = 0;   ///< lines into the last, from memory

    Misses& operator+=(const Misses& other);
};

/// One dump of callgrind: the number of its part, and what it counted. Throws Error for what is no such dump; a dump that no part
/// asked for has the number -1.
struct Dump {
    int part = -1;
    Misses misses;
};
Dump parse_dump(std::string_view text);

/// A part's bytes, known: simulated for the misses, analytic for the interval.
struct SimulatedPart {
    std::string layer, kind, phase;
    Bytes compulsory, no_reuse;
    Bytes first, last;  ///< misses, in lines of 64 bytes
};

/// `parts` as explanation_json has them. Throws Error if a dump names a part that is not there.
std::vector<SimulatedPart> simulated_parts(const nlohmann::json& parts, const std::vector<Dump>& dumps);

/// "in" the interval, with a leeway of a twentieth at both ends, "below" or "above" it.
std::string_view place_of(Bytes moved, const SimulatedPart& part);

std::string simulation_text(const std::vector<SimulatedPart>& parts, const SimulatedCache& first,
                            const SimulatedCache& last);
nlohmann::json simulation_json(const std::vector<SimulatedPart>& parts, const SimulatedCache& first,
                               const SimulatedCache& last);

}  // namespace roof
