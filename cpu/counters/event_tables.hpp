// Which events of a processor count FLOPs, and lines of 64 bytes that come into a cache: a table for each microarchitecture, by
// the names of libpfm4. All are events of a core, which a process may count of its own threads; what a socket's memory
// controllers count needs rights and is of all processes. The traps, known for each:
//   Intel  FP_ARITH_INST_RETIRED counts a multiply-add twice already; divisions and square roots once; masked lanes too; not
//          AMX, nor dot products of 8 and 16 bits
//   AMD    up to Zen 4, RETIRED_SSE_AVX_FLOPS counts single and double together, a multiply-add twice
//   lines  those stored are fetched first, and count; written back they are not counted
#pragma once

#include <span>
#include <string_view>

namespace roof::cpu {

/// What an event counts: FLOPs of a precision, `any` where it does not tell; or lines into a level, or from memory.
enum class Counts { fp32, fp64, any, into_l1, into_l2, from_memory };

std::string_view name(Counts counts);

struct CountedEvent {
    std::string_view event;
    Counts counts;
    double each = 1;  ///< FLOPs or lines for one of it
};

struct EventTable {
    std::string_view microarchitecture;
    std::string_view pmu;  ///< libpfm4's prefix of its events
    std::span<const CountedEvent> events;
    std::string_view caveat;  ///< a sentence
};

/// Null if there is none for that processor. `vendor`, `family` and `model` as CPUID has them: "GenuineIntel", "AuthenticAMD".
const EventTable* event_table(std::string_view vendor, int family, int model);
std::span<const EventTable> event_tables();

}  // namespace roof::cpu
