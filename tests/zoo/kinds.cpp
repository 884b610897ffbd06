#include "tests/zoo/kinds.hpp"

#include <array>

namespace roof::zoo {
namespace {

constexpr Range none{};
constexpr Range little{0.05, 0.3};
constexpr Range half{0.3, 0.6};
constexpr Range two_thirds{limits::most_duty, limits::most_duty};
constexpr Range much{0.6, 0.9};
constexpr Range flashes{1e-4, 3e-3};  ///< as short as launches
constexpr Range beats{3e-3, 0.3};     ///< as short as rows
constexpr Range spells{0.3, 30};      ///< as long as rounds and longer
constexpr Range any_length{1e-4, 30};
constexpr Range switches = limits::second_rate_seconds;
constexpr Range slices = limits::steal_seconds;

constexpr auto design = Half::design;
constexpr auto judging = Half::judging;

constexpr std::array kinds{
    Kind{"quiet sharp", design, Edges::sharp, Source::none, none, none},
    Kind{"quiet ramp, reports wrong", design, Edges::ramp, Source::none, none, none, Clocks::fixed, Reports::wrong,
         Guide::low},
    Kind{"quiet tail, wide vectors", design, Edges::tail, Source::none, none, none, Clocks::fixed, Reports::right,
         Guide::right, Cores::alike, true},
    Kind{"quiet pages, clock unread", design, Edges::pages, Source::none, none, none, Clocks::unread, Reports::missing,
         Guide::right},
    Kind{"clock steps", design, Edges::sharp, Source::none, none, none, Clocks::steps, Reports::right, Guide::right},
    Kind{"sibling little, flashes", design, Edges::sharp, Source::sibling, little, flashes, Clocks::fixed,
         Reports::right, Guide::low},
    Kind{"sibling half, beats", design, Edges::ramp, Source::sibling, half, beats, Clocks::fixed, Reports::missing},
    Kind{"sibling much, spells", design, Edges::tail, Source::sibling, much, spells, Clocks::fixed, Reports::right,
         Guide::right},
    Kind{"bus little, spells", design, Edges::sharp, Source::bus, little, spells},
    Kind{"bus half, beats", design, Edges::lead, Source::bus, half, beats, Clocks::fixed, Reports::wrong, Guide::off},
    Kind{"bus much, spells", design, Edges::ramp, Source::bus, much, spells},
    Kind{"steal, clock misread",
         design,
         Edges::sharp,
         Source::steal,
         {0.1, 0.6},
         slices,
         Clocks::misread,
         Reports::right,
         Guide::right},
    Kind{"two rates", design, Edges::sharp, Source::two_rates, {0.1, 0.9}, switches},
    Kind{"quota", design, Edges::ramp, Source::quota, none, none, Clocks::fixed, Reports::right},
    Kind{"own siblings", design, Edges::sharp, Source::none, none, none, Clocks::fixed, Reports::right, Guide::right,
         Cores::siblings},
    Kind{"sibling and bus, clock drifts", design, Edges::mixed, Source::sibling_and_bus, half, any_length,
         Clocks::drifts, Reports::right, Guide::low},
    Kind{"clock drifts", design, Edges::ramp, Source::none, none, none, Clocks::drifts, Reports::right, Guide::right},
    Kind{"sibling and bus, much", design, Edges::pages, Source::sibling_and_bus, much, any_length, Clocks::fixed,
         Reports::missing, Guide::off},
    Kind{"sibling half, any length, clock steps", design, Edges::pages, Source::sibling, half, any_length,
         Clocks::steps, Reports::right, Guide::right},
    Kind{.name = "throttled", .half = design, .change = Change::throttle},
    Kind{.name = "memory neighbour leaves", .half = design, .edges = Edges::ramp, .change = Change::leaves},
    Kind{.name = "token bucket", .half = design, .edges = Edges::tail, .change = Change::bucket},
    Kind{.name = "thermal", .half = design, .edges = Edges::lead, .change = Change::thermal},
    Kind{.name = "luck of pages", .half = design, .luck = Luck::pages},
    Kind{.name = "loops with two rates", .half = design, .edges = Edges::ramp, .luck = Luck::loops},
    Kind{.name = "large last cache", .half = design, .has_large_last_cache = true},
    Kind{.name = "heavy tails",
         .half = design,
         .edges = Edges::mixed,
         .reports = Reports::wrong,
         .has_heavy_tails = true},
    Kind{.name = "memory throttled", .half = design, .edges = Edges::ramp, .change = Change::memory_throttle},
    Kind{.name = "clock rises after rest", .half = design, .edges = Edges::ramp, .ramps_clock = true},
    Kind{.name = "siblings reported as cores", .half = design, .cores = Cores::hidden_siblings},
    Kind{.name = "bus two thirds, spells", .half = design, .source = Source::bus, .duty = two_thirds, .burst = spells},
    Kind{.name = "migration", .half = design, .edges = Edges::mixed, .change = Change::migration},

    Kind{"quiet lead, guide off", judging, Edges::lead, Source::none, none, none, Clocks::fixed, Reports::missing,
         Guide::off},
    Kind{"quiet mixed, two kinds of cores", judging, Edges::mixed, Source::none, none, none, Clocks::fixed,
         Reports::wrong, Guide::none, Cores::two_kinds},
    Kind{"quiet mixed, guide low", judging, Edges::mixed, Source::none, none, none, Clocks::fixed, Reports::right,
         Guide::low, Cores::alike, true},
    Kind{"clock drifts, wide vectors", judging, Edges::lead, Source::none, none, none, Clocks::drifts, Reports::missing,
         Guide::low, Cores::alike, true},
    Kind{"clock misread", judging, Edges::sharp, Source::none, none, none, Clocks::misread, Reports::right, Guide::low},
    Kind{"sibling little, spells", judging, Edges::mixed, Source::sibling, little, spells, Clocks::fixed,
         Reports::wrong, Guide::off},
    Kind{"sibling half, spells, clock steps", judging, Edges::tail, Source::sibling, half, spells, Clocks::steps,
         Reports::missing, Guide::low},
    Kind{"sibling much, beats", judging, Edges::lead, Source::sibling, much, beats, Clocks::fixed, Reports::missing,
         Guide::low},
    Kind{"bus little, any length", judging, Edges::tail, Source::bus, little, any_length, Clocks::fixed,
         Reports::wrong},
    Kind{"bus half, spells", judging, Edges::mixed, Source::bus, half, spells, Clocks::fixed, Reports::right,
         Guide::right},
    Kind{"bus much, any length", judging, Edges::sharp, Source::bus, much, any_length},
    Kind{"steal", judging, Edges::mixed, Source::steal, {0.02, 0.3}, slices, Clocks::fixed, Reports::missing},
    Kind{"two rates, clock unread",
         judging,
         Edges::ramp,
         Source::two_rates,
         {0.1, 0.9},
         switches,
         Clocks::unread,
         Reports::wrong},
    Kind{"quota, guide low", judging, Edges::sharp, Source::quota, none, none, Clocks::fixed, Reports::wrong,
         Guide::low},
    Kind{"own siblings beside a bus", judging, Edges::tail, Source::bus, little, any_length, Clocks::fixed,
         Reports::right, Guide::none, Cores::siblings},
    Kind{"sibling and bus much, beats", judging, Edges::lead, Source::sibling_and_bus, much, beats, Clocks::fixed,
         Reports::right, Guide::low},
    Kind{.name = "migration beside a bus",
         .half = judging,
         .edges = Edges::lead,
         .source = Source::bus,
         .duty = little,
         .burst = beats,
         .change = Change::migration},
    Kind{.name = "turbo", .half = judging, .edges = Edges::lead, .reports = Reports::missing, .change = Change::turbo},
    Kind{.name = "square wave",
         .half = judging,
         .source = Source::bus,
         .duty = {0.5, 0.5},
         .burst = {0.2e-3, 3e-3},
         .is_regular = true},
    Kind{.name = "luck of slices", .half = judging, .edges = Edges::ramp, .luck = Luck::slices},
    Kind{.name = "luck of pages beside a bus",
         .half = judging,
         .edges = Edges::tail,
         .source = Source::bus,
         .duty = little,
         .burst = any_length,
         .luck = Luck::pages},
    Kind{.name = "several neighbours",
         .half = judging,
         .edges = Edges::mixed,
         .source = Source::bus,
         .duty = half,
         .burst = any_length,
         .neighbours = 3},
    Kind{.name = "large last cache, heavy tails",
         .half = judging,
         .edges = Edges::lead,
         .has_heavy_tails = true,
         .has_large_last_cache = true},
    Kind{.name = "memory throttled beside a bus",
         .half = judging,
         .edges = Edges::lead,
         .source = Source::bus,
         .duty = little,
         .burst = beats,
         .change = Change::memory_throttle},
    Kind{.name = "a bus that takes the last cache",
         .half = judging,
         .edges = Edges::mixed,
         .source = Source::bus,
         .duty = half,
         .burst = any_length,
         .shrinks_cache = true},
    Kind{.name = "siblings reported as cores, clock steps",
         .half = judging,
         .edges = Edges::mixed,
         .clocks = Clocks::steps,
         .cores = Cores::hidden_siblings},
    Kind{.name = "sibling and bus two thirds, any length",
         .half = judging,
         .edges = Edges::ramp,
         .source = Source::sibling_and_bus,
         .duty = two_thirds,
         .burst = any_length},
};

constexpr std::array moved{
    Moved{"clock drifts", "clock drifts, wide vectors",
          "86.2% of steady arithmetic held the truth: the run's clock was that of similar work"},
    Moved{"sibling and bus, much", "sibling and bus much, beats",
          "2% of calibrations had a false level: loads alone showed an edge"},
    Moved{"sibling half, any length, clock steps", "sibling half, spells, clock steps",
          "89.7% of steady arithmetic held the truth: without evidence the clock counted as constant"},
    Moved{"memory throttled", "memory throttled beside a bus",
          "11% of far ceilings were steady and wrong: looks agreed with a rate that later rounds had lost"},
    Moved{"migration", "migration beside a bus",
          "16.7% of a group was steady and wrong: ceilings closed before their level changed told nothing of it"}};

}  // namespace

std::span<const Kind> all_kinds()
{
    return kinds;
}

std::span<const Moved> moved_kinds()
{
    return moved;
}

}  // namespace roof::zoo
