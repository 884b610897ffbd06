// The limits of the zoo: what is drawn, what counts as the truth, and the figures that the method is held to. This file
// was committed before the rules in ert/method/ceilings were changed for it. A limit is widened where a real machine
// lies outside it, never narrowed for a rule.
#pragma once

#include <cstddef>

namespace roof::zoo {

/// Both ends belong to the range. `ratio` ranges are drawn evenly in the logarithm, others evenly.
struct Range {
    double low = 0;
    double high = 0;
};

namespace limits {

// Caches. A level's size is its edge: the working set of which half of the lines are served farther away. The sizes are
// those of all cores in use together, since a private cache of four cores holds four times as much.
inline constexpr Range caches{2, 4};
inline constexpr Range first_cache{16 << 10, 192 << 10};  ///< bytes of one core
inline constexpr Range last_edge{512 << 10, 32 << 20};    ///< bytes of all cores together
inline constexpr Range size_ratio{4, 64};                 ///< of neighbouring levels, with one thread and with all
inline constexpr Range spread_octaves{0, 1.5};            ///< of an edge: from no line to all lines served farther away
inline constexpr double sharp_octaves = 0.05;             ///< a sharp edge
inline constexpr double served_alone_octaves = 1;         ///< least range of working sets that a level serves alone
inline constexpr double first_sweep_bytes = 8 << 10;      ///< where the sweeps of the plan begin
inline constexpr double last_cache_most_bytes = 40 << 20;  ///< a set as large as this lies wholly in memory
// Rates and latencies of neighbouring levels. Reads and writes are drawn apart, so every operation has its own ratio.
inline constexpr Range rate_ratio{1.05, 4};
inline constexpr Range latency_ratio{1.5, 8};
inline constexpr Range memory_latency_ns{40, 400};
inline constexpr Range first_latency_clocks{3, 6};
// Cores and clocks.
inline constexpr Range clock_ghz{1.8, 5};
inline constexpr Range clock_step{0.02, 0.08};       ///< a second clock is lower by this share
inline constexpr Range clock_step_seconds{0.3, 10};  ///< mean time at one clock
inline constexpr Range clock_drift{0.01, 0.04};      ///< from the mean to each end
inline constexpr Range clock_drift_seconds{10, 120};
inline constexpr Range wide_clock{0.8, 0.97};      ///< under the widest vectors, as a share
inline constexpr Range misread_rows{0.005, 0.03};  ///< share of rows whose clock is read too low
inline constexpr Range misread_by{0.02, 0.05};
inline constexpr double clock_reading_noise = 0.0003;  ///< standard deviation
inline constexpr Range slow_core{0.5, 0.85};           ///< rate of the second kind of core, as a share
// Noise of samples: standard deviations, shares. Of a round: what one making of the arrays adds to all its samples.
inline constexpr Range noise_near{0.0002, 0.003};  ///< core and private caches
inline constexpr Range noise_shared{0.001, 0.01};  ///< shared caches
inline constexpr Range noise_memory{0.003, 0.02};
inline constexpr Range round_noise_shared{0, 0.003};
inline constexpr Range round_noise_memory{0, 0.006};
inline constexpr Range slow_rows{0, 0.03};  ///< share of rows with an unlucky loop or page
inline constexpr Range slow_row_by{0.01, 0.1};
// Interference. Times of work and of rest are exponential.
inline constexpr Range duty{0, 0.9};
inline constexpr Range burst_seconds{1e-4, 30};  ///< mean length
inline constexpr double quiet_duty = 0.3;        ///< "up to 30%"
inline constexpr double most_duty = 2.0 / 3;     ///< at which most ceilings have to become steady
inline constexpr Range sibling_takes{0.3, 0.6};  ///< of the core; of memory's rate three tenths of that
inline constexpr double sibling_seen = 0.9;      ///< of the launches that it touches
inline constexpr Range bus_takes{0.05, 0.6};     ///< of memory's rate, drawn for each burst; the monitor sees nothing
inline constexpr Range second_rate_takes{0.1, 0.45};  ///< of memory's rate, the same in all bursts
inline constexpr Range second_rate_seconds{0.5, 30};
inline constexpr Range steal_duty{0, 0.6};
inline constexpr Range steal_seconds{1e-4, 0.03};
inline constexpr double steal_tick_seconds = 0.01;  ///< the kernel counts stolen time in ticks
inline constexpr Range quota{0.3, 0.9};             ///< of a control group, of the time that the threads want
inline constexpr double quota_period_seconds = 0.1;
inline constexpr Range marked_by_chance{0, 0.03};  ///< share of undisturbed launches that the monitor marks
// Events, and luck of a making.
inline constexpr Range throttled_to{0.3, 0.7};
inline constexpr Range throttled_at{2, 14};  ///< seconds of the run; of a neighbour that leaves from 4 on
inline constexpr Range leaves_at{4, 14};
inline constexpr Range migrates_to{0.7, 1.4};
inline constexpr Range migrates_clock{0.8, 1.2};
inline constexpr double thermal_share = 0.05, thermal_seconds = 60;
inline constexpr Range turbo{1.05, 1.3};
inline constexpr Range rested_clock{0.5, 0.9};
inline constexpr Range clock_rises_seconds{0.5e-3, 10e-3};
inline constexpr Range cache_held{0.3, 0.7};
inline constexpr Range bucket_seconds{0.5e-3, 5e-3};
inline constexpr Range bucket_rate{0.2, 0.6};
inline constexpr Range luck_of_pages{0.02, 0.08};  ///< standard deviation
inline constexpr double slow_slices = 0.3;
inline constexpr Range slice_slower_by{0.03, 0.12};
inline constexpr Range slow_loops{0.2, 0.7};  ///< share of makings
inline constexpr double slow_loop_by = 1.0 / 6;
inline constexpr double tail_scale = 0.003, tail_exponent = 1.5;
inline constexpr Range large_last_edge{96 << 20, 192 << 20};
// Reports and guides.
inline constexpr Range report_wrong_by{2, 16};  ///< factor, too large or too small
inline constexpr double guide_wrong_by = 0.02;
// Time of the simulated machine.
inline constexpr double between_looks_seconds = 7000;
inline constexpr double launch_seconds = 0.3e-3;
inline constexpr double reading_seconds = 70e-6;  ///< of the monitor, before a launch and after it
inline constexpr double making_seconds =
    9e-3;  ///< search and check of a subject: recorded calibrations take 15 to 25 s

}  // namespace limits

// The truth.
//
// A level's rate is that of a set which the level serves alone: lines times their cost. A level's latency likewise.
// Arithmetic: work per clock times the clock. Clock: where it varies, the truth is the rate at the mean clock of the
// run. A lower bound is false only above the rate at the fastest clock. Neighbours: they are no part of the truth,
// however long they work. Beside it the tables show how many intervals hold what a run started afterwards gets: the
// median of the last tenth of the launches. Rounds that differ: the truth is the rate of the median round. Loops with
// two rates: the higher. Events of the machine itself, and a neighbour that leaves: the rate after the event; a lower
// bound is false above the fastest of both. Heavy tails: the rate of the median sample.

/// "Done when". Shares of calibrations or ceilings. Levels, exit statuses: of each kind. States: of each kind in four
/// groups of ceilings, arithmetic, near (private caches), far (shared caches and memory) and latency, so that many easy
/// ceilings hide no bad ones.
namespace figures {
inline constexpr double levels_right_quiet = 0.99;
inline constexpr double levels_right_disturbed = 0.95;
inline constexpr double false_levels = 0.01;
inline constexpr double edge_octaves = 0.5;  ///< of edges that are sharper than this
inline constexpr double steady_holds = 0.93;
inline constexpr double median_miss = 0.02;  ///< of the steady intervals that miss
inline constexpr double low_by = 0.03;
inline constexpr double wrong_by = 0.05,
                        steady_and_wrong = 0.02;  ///< in kinds with events, of all ceilings of the group
inline constexpr double steady_and_low = 0.01;  ///< of all ceilings of the group: one ceiling is one calibration of it
inline constexpr double above_by = 0.005;
inline constexpr double bounds_above = 0.01;
inline constexpr double bound_reaches = 0.97;  ///< of the truth, in the median, where three samples were undisturbed
inline constexpr double bound_reaches_in_95 = 0.9;
inline constexpr double steady_quiet = 0.90, half_width_quiet = 0.01;  ///< after the second look
/// At up to 30% interference after the second look, at two thirds after `many_looks`.
inline constexpr double steady_disturbed = 0.60, half_width_disturbed = 0.03;
inline constexpr int many_looks = 20;
inline constexpr double most_seconds_quiet = 20, most_seconds = 34;  ///< of the longest calibration
inline constexpr std::size_t least_calibrations = 1000;
/// The pooling rule, for steady intervals and for lower bounds. A group of a kind with fewer of them than this is
/// pooled with the same group of the other such kinds of the same half (design or judging) and the same source of
/// interference; a pool that is still too small, with those of all sources. What is too small even then is shown and
/// not judged.
inline constexpr std::size_t least_judged = 200;
}  // namespace figures

}  // namespace roof::zoo
