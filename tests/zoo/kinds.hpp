// The kinds of machines in the zoo: each is one combination of edges, interference, clock, reports, guide and oddity. Half of them serve
// for the design of the rules; the other half only judge them.
#pragma once

#include "ert/base/names.hpp"
#include "tests/zoo/limits.hpp"

#include <span>
#include <string_view>

namespace roof::zoo {

enum class Half { design, judging };
constexpr EnumNames<Half, 2> names_of(Half)
{
    return {"half", {{{Half::design, "design"}, {Half::judging, "judging"}}}};
}

/// How the share of lines that are served farther away grows with the working set. `ramp`: evenly over the octaves. `tail`: fast, then
/// slowly, so that the nearer cache still serves a part of larger sets. `lead`: slowly, then fast, as where hashing or a victim cache
/// loses lines early. `pages`: sharp, at a place that the pages of each round decide. `mixed`: each edge has a form of its own.
enum class Edges { sharp, ramp, tail, lead, pages, mixed };

/// Where interference comes from. `bus`: memory's traffic, unseen by the monitor. `two_rates`: memory's rate changes between two values
/// for seconds, unseen. `sibling_and_bus`: both. `quota`: the control group throttles.
enum class Source { none, sibling, bus, steal, two_rates, sibling_and_bus, quota };
constexpr EnumNames<Source, 7> names_of(Source)
{
    return {"source of interference",
            {{{Source::none, "none"},
              {Source::sibling, "sibling"},
              {Source::bus, "bus"},
              {Source::steal, "steal"},
              {Source::two_rates, "two rates"},
              {Source::sibling_and_bus, "sibling and bus"},
              {Source::quota, "quota"}}}};
}

/// `unread`: no launch knows its clock. `misread`: some rows read a clock that is too low.
enum class Clocks { fixed, steps, drifts, unread, misread };
enum class Reports { right, wrong, missing };
/// `low`: the guide's rates are 2% too low, so that true ceilings lie above them. `off`: each is wrong by up to 2% in either direction.
enum class Guide { none, right, low, off };
/// `siblings`: all hardware threads of two on each core are measured too. `two_kinds`: half of the cores are slower.
enum class Cores { alike, siblings, two_kinds };

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

    /// Nothing slows the machine, and its clock can be read and stays, or cannot be read.
    constexpr bool is_quiet() const
    {
        return source == Source::none && (clocks == Clocks::fixed || clocks == Clocks::unread) &&
               cores != Cores::siblings;
    }
    /// Interference of up to 30%, with a fixed clock.
    constexpr bool is_little_disturbed() const
    {
        return source != Source::none && source != Source::quota && duty.high <= limits::quiet_duty &&
               clocks == Clocks::fixed && cores != Cores::siblings;
    }
};

std::span<const Kind> all_kinds();

/// A judging kind whose failure led to a change of a rule serves for design from then on, and another kind takes its place.
struct Moved {
    std::string_view kind;
    std::string_view replaced_by;
    std::string_view reason;
};
std::span<const Moved> moved_kinds();

}  // namespace roof::zoo
