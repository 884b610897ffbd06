// Passes over arrays in memory, on every thread of a team, in the fastest of several variants and in launches of about the same
// length. Small arrays are passed over many times per launch. Large arrays are cut into windows, one per launch, each after the
// last: the accesses are those of whole passes cut in time, so each launch finds the caches as a whole pass would.
#pragma once

#include "cpu/noise_monitor.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace roof::cpu {

/// A part of every array.
struct Segment {
    std::size_t from = 0;
    std::size_t bytes = 0;
};

/// `run` passes over the segment of each of the thread's arrays, `passes` times.
struct Variant {
    std::string name;
    std::function<void(int thread, std::size_t passes, const Segment& segment)> run;
};

/// How much of an array is used: whole iterations of every loop to be tried, so that the bytes do not depend on which is fastest.
struct Extent {
    std::size_t bytes = 0;
    std::size_t step = 0;  ///< the longest of those iterations, a multiple of the others
};

/// The extent of at most `bytes`. `iterations`: bytes of one iteration of each loop, each a multiple of any shorter one; those longer
/// than an eighth of `bytes` are left out, except the shortest. Nothing if the shortest does not fit.
std::optional<Extent> whole_iterations(std::size_t bytes, std::vector<std::size_t> iterations);

class PassDriver {
  public:
    /// `extent`: of each array of a thread; segments are multiples of its step. Passes once over everything, then tries the
    /// variants. The team must outlive this object. `resources`: where each thread's arrays lie.
    PassDriver(MonitoredTeam& team, const Extent& extent, std::vector<Variant> variants,
               Resources resources = Resources::shared);

    /// One window, with the fastest variant.
    void launch(Trace& trace);
    /// Bytes of each array of each thread in a launch.
    double bytes_per_launch() const { return static_cast<double>(plan_.passes) * static_cast<double>(plan_.bytes); }

    /// What to check: the whole arrays, or for arrays that take several launches the last windows. Checking brings them into the caches;
    /// the next launches reach them last.
    std::vector<Segment> samples() const;
    /// Passes over the segment with the fastest variant, `passes` times; not timed.
    void run(const Segment& segment, std::size_t passes) const;
    /// Passes in a launch; 1 where it is a window.
    std::size_t passes() const { return plan_.passes; }

    const std::string& fastest() const { return variants_[chosen_].name; }

  private:
    /// How the arrays are cut: windows of `bytes`, `passes` passes over each.
    struct Plan {
        std::size_t passes = 1;
        std::size_t bytes = 0;
        std::size_t windows = 1;
    };
    Plan plan_for(Seconds target, Seconds pass) const;
    Seconds time_of_pass();
    /// Returns the fastest variant's time for a window.
    Seconds search();
    /// Sets the plan. The last segment is in the caches, so the next window is the first one after it.
    void cut(const Plan& plan);
    Segment next_window();
    Segment window(std::size_t index) const;
    void run_variant(const Variant& variant, const Segment& segment, std::size_t passes) const;

    MonitoredTeam& team_;
    Extent extent_;
    std::vector<Variant> variants_;
    Resources resources_;
    std::size_t chosen_ = 0;
    Plan plan_;
    std::size_t window_ = 0;  ///< the next
    std::size_t end_ = 0;     ///< of the last segment
};

}  // namespace roof::cpu
