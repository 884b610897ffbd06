// Passes over arrays in memory, on every thread of a team, with the fastest of several variants, in launches of similar
// length. A launch makes many passes over small arrays. Large arrays are cut into consecutive windows, one per launch,
// so each launch finds the caches as in a whole pass.
#pragma once

#include "cpu/noise_monitor.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace roof::cpu {

/// A byte range within every array.
struct Segment {
    std::size_t from = 0;
    std::size_t bytes = 0;
};

/// `run` makes `passes` passes over the segment of each of the thread's arrays.
struct Variant {
    std::string name;
    std::function<void(int thread, std::size_t passes, const Segment& segment)> run;
};

/// The used length of an array: whole iterations of every loop to try, so that all variants use the same bytes.
struct Extent {
    std::size_t bytes = 0;
    std::size_t step = 0;  ///< the longest iteration, a multiple of the others
};

/// The extent of at most `bytes`. `iterations`: bytes per iteration of each loop, each a multiple of any shorter one.
/// Omits loops longer than an eighth of `bytes`, except the shortest. Returns nothing if the shortest does not fit.
std::optional<Extent> whole_iterations(std::size_t bytes, std::vector<std::size_t> iterations);

class PassDriver {
  public:
    /// `extent`: of each array of a thread; segments are multiples of its step. Makes one pass over everything, then
    /// tries the variants. The team must outlive this object. `resources`: whether the threads' arrays lie in shared
    /// memory levels.
    PassDriver(MonitoredTeam& team, const Extent& extent, std::vector<Variant> variants,
               Resources resources = Resources::shared);

    void launch(Trace& trace);
    /// Bytes of each array of each thread per launch.
    double bytes_per_launch() const { return static_cast<double>(plan_.passes) * static_cast<double>(plan_.bytes); }

    /// The segments to check: the whole arrays, or the last windows of arrays that take several launches. Checking
    /// brings them into the caches; the next launches reach them last.
    std::vector<Segment> samples() const;
    /// Makes `passes` untimed passes over the segment with the fastest variant.
    void run(const Segment& segment, std::size_t passes) const;
    /// Passes per launch; 1 if a launch is one window.
    std::size_t passes() const { return plan_.passes; }

    const std::string& fastest() const { return variants_[chosen_].name; }
    std::size_t chosen() const { return chosen_; }

  private:
    /// The division into launches: windows of `bytes`, with `passes` passes over each.
    struct Plan {
        std::size_t passes = 1;
        std::size_t bytes = 0;
        std::size_t windows = 1;
    };
    Plan plan_for(Seconds target, Seconds pass) const;
    Seconds time_of_pass();
    /// Tries the variants. `pass`: the time of one pass. Returns the time of the fastest variant for a window.
    Seconds search(Seconds pass);
    /// Sets the plan. The last segment is in the caches, so the first window comes next.
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
    std::size_t window_ = 0;  ///< the next window
    std::size_t end_ = 0;     ///< end of the last segment
};

}  // namespace roof::cpu
