// The events that count FLOPs and 64-byte cache lines, in one table per microarchitecture, under libpfm4's names. All
// are core events, which a process may count for its own threads. Events of memory controllers need privileges and
// count all processes. Known pitfalls:
//   Intel  FP_ARITH_INST_RETIRED counts a multiply-add twice, a division or square root once, and masked lanes too. It
//          does not count AMX or dot products of 8 and 16 bits.
//   AMD    up to Zen 4, RETIRED_SSE_AVX_FLOPS counts single and double together, and a multiply-add twice.
//   lines  a stored line is fetched first and counted; its write-back is not counted.
#pragma once

#include "ert/base/names.hpp"

#include <span>
#include <string_view>

namespace roof::cpu {

/// What an event counts: FLOPs of one precision (`any`: of all precisions together), or lines into a level or from
/// memory.
enum class Counts { fp32, fp64, any, into_l1, into_l2, from_memory };

constexpr EnumNames<Counts::from_memory> names_of(Counts)
{
    return {"count",
            {"FLOPs of fp32", "FLOPs of fp64", "FLOPs", "lines into L1", "lines into L2", "lines from memory"}};
}

struct CountedEvent {
    std::string_view event;
    Counts counts;
    double each = 1;  ///< FLOPs or lines per event
};

struct EventTable {
    std::string_view microarchitecture;
    std::string_view pmu;  ///< libpfm4's prefix of the events
    std::span<const CountedEvent> events;
    std::string_view caveat;  ///< a sentence
};

/// The table for a processor, or null if there is none. Arguments as CPUID reports them; `vendor` is "GenuineIntel" or
/// "AuthenticAMD".
const EventTable* event_table(std::string_view vendor, int family, int model);
std::span<const EventTable> event_tables();

}  // namespace roof::cpu
