// The kinds of machines in the zoo: each is one combination of edges, interference, clock, reports, guide and oddity.
// Half of them serve for the design of the rules; the other half only judge them.
#pragma once

#include "ert/base/names.hpp"
#include "tests/zoo/limits.hpp"

#include <span>
#include <string_view>

namespace roof::zoo {

enum class Half { design, judging };
constexpr EnumNames<Half::judging> names_of(Half)
{
    return {"half", {"design", "judging"}};
}

/// How the share of lines that are served farther away grows with the working set. `ramp`: evenly over the octaves.
/// `tail`: fast, then slowly, so that the nearer cache still serves a part of larger sets. `lead`: slowly, then fast,
/// as where hashing or a victim cache loses lines early. `pages`: sharp, at a place that the pages of each round
/// decide. `mixed`: each edge has a form of its own.
enum class Edges { sharp, ramp, tail, lead, pages, mixed };

/// Where interference comes from. `bus`: memory's traffic, unseen by the monitor. `two_rates`: memory's rate changes
/// between two values for seconds, unseen. `sibling_and_bus`: both. `quota`: the control group throttles.
enum class Source { none, sibling, bus, steal, two_rates, sibling_and_bus, quota };
constexpr EnumNames<Source::quota> names_of(Source)
{
    return {"source of interference", {"none", "sibling", "bus", "steal", "two rates", "sibling and bus", "quota"}};
}

/// `unread`: no launch knows its clock. `misread`: some rows read a clock that is too low.
enum class Clocks { fixed, steps, drifts, unread, misread };
enum class Reports { right, wrong, missing };
/// `low`: the guide's rates are 2% too low, so that true ceilings lie above them. `off`: each is wrong by up to 2% in
/// either direction.
enum class Guide { none, right, low, off };
/// `siblings`: all hardware threads of two on each core are measured too. `hidden_siblings`: the machine reports them
/// as cores, as some virtual machines do. `two_kinds`: half of the cores are slower.
enum class Cores { alike, siblings, hidden_siblings, two_kinds };

/// What happens once in the run, or goes on in time. `throttle`: all rates fall, from 2 to 14 s on. `memory_throttle`:
/// memory's alone. `leaves`: a neighbour on memory, unseen, that works until 4 to 14 s. `migration`: the machine moves
/// to a host with another clock and other rates and latencies beyond the private caches. `thermal`: the clock falls by
/// 5% in 60 s. `turbo`: it is higher until 2 to 14 s. `bucket`: after 0.5 to 5 ms of traffic memory gives a share of
/// its rate, until it has rested.
enum class Change { none, throttle, memory_throttle, leaves, migration, thermal, turbo, bucket };
/// What one making of a subject decides for all its launches. `pages`: rates of shared caches and of memory, by 2 to
/// 8%. `slices`: of shared caches, slow in three of ten. `loops`: every third loop, by a sixth.
enum class Luck { none, pages, slices, loops };

struct Kind {
    std::string_view name;
    Half half = Half::design;
    Edges edges = Edges::sharp;
    Source source = Source::none;
    Range duty{};   ///< within the limits; none for `none` and `quota`
    Range burst{};  ///< mean seconds
    Clocks clocks = Clocks::fixed;
    Reports reports = Reports::right;
    Guide guide = Guide::none;
    Cores cores = Cores::alike;
    bool has_wide_vectors = false;  ///< AVX-512 with a lower clock
    Change change = Change::none;
    Luck luck = Luck::none;
    int neighbours = 1;                 ///< on memory, each as described
    bool is_regular = false;            ///< they work and rest for equal times, each time as long
    bool has_heavy_tails = false;       ///< of samples, by a Pareto distribution
    bool has_large_last_cache = false;  ///< 96 to 192 MiB
    bool ramps_clock = false;           ///< it is lower after a rest, and rises with work
    bool shrinks_cache = false;         ///< a neighbour takes a part of the last cache while it works

    constexpr bool has_siblings() const { return cores == Cores::siblings || cores == Cores::hidden_siblings; }
    /// Nothing slows the machine, and its clock can be read and stays, or cannot be read.
    constexpr bool is_quiet() const
    {
        return source == Source::none && (clocks == Clocks::fixed || clocks == Clocks::unread) && !has_siblings() &&
               change == Change::none && luck == Luck::none && !has_heavy_tails && !ramps_clock;
    }
    /// Interference of up to 30%, with a fixed clock.
    constexpr bool is_little_disturbed() const
    {
        return source != Source::none && source != Source::quota && duty.high <= limits::quiet_duty &&
               neighbours == 1 && clocks == Clocks::fixed && !has_siblings() && change == Change::none &&
               luck == Luck::none;
    }
    constexpr bool is_disturbed_two_thirds() const { return duty.high == limits::most_duty; }
};

std::span<const Kind> all_kinds();

/// A judging kind whose failure led to a change of a rule serves for design from then on, and another kind takes its
/// place.
struct Moved {
    std::string_view kind;
    std::string_view replaced_by;
    std::string_view reason;
};
std::span<const Moved> moved_kinds();

}  // namespace roof::zoo
