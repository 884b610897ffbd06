// The caches that valgrind simulates in place of this machine's: of the sizes that the system reports. Without these
// options valgrind takes them from CPUID, which on a virtual machine may be the host's, and rounds them to a power of
// two with one or two ways.
#pragma once

#include "ert/base/units.hpp"
#include "ert/method/bench/machine.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace roof {

/// A cache in valgrind's terms: "size,associativity,line".
struct SimulatedCache {
    static constexpr std::size_t line = 64;

    std::size_t bytes = 0;
    std::size_t ways = 8;

    std::string option() const;
};

/// A cache of this capacity with the power of two of sets that valgrind needs: as many as leave 8 ways or more, so that
/// 33 MiB are 16384 sets of 33 ways. Where that gave more than 64 ways, fewer, of a capacity that is up to 1/32
/// smaller.
SimulatedCache simulated_cache(Bytes capacity);

struct SimulatedCaches {
    SimulatedCache first, last;

    std::vector<std::string> options() const;
    /// "48 KiB with 12 ways and 32 MiB with 8 ways".
    std::string text() const;
};

/// One instance of each, as the system reports it; common sizes if it reports none.
SimulatedCaches simulated_caches(const Machine& machine);

}  // namespace roof
