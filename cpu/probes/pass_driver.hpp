// A walk over arrays in memory, on every thread of a team: of several ways to do it the fastest, and stretches of it that
// take about as long as a launch should. Small arrays are walked over many times in a launch. Arrays that take longer are
// walked over by windows, one window a launch, each where the last ended: the sequence of accesses is that of whole passes,
// cut in time, so a launch finds in the caches what a pass would find there, and takes no longer than that of small ones.
#pragma once

#include "cpu/noise_monitor.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace roof::cpu {

/// A part of every array.
struct Stretch {
    std::size_t from = 0;
    std::size_t bytes = 0;
};

/// One way to walk: `run` walks on `thread` over the stretch of each of its arrays, `passes` times.
struct Way {
    std::string name;
    std::function<void(int thread, std::size_t passes, const Stretch& stretch)> run;
};

/// How much of an array is walked over: whole iterations of every loop that will be tried, so that the bytes do not depend
/// on which is fastest.
struct Extent {
    std::size_t bytes = 0;
    std::size_t step = 0;  ///< the longest of those iterations, a multiple of the others
};

/// Of at most `bytes`. `iterations`: bytes of each loop's, each a multiple of any shorter one; those that an eighth of the
/// bytes does not hold are left out, but for the shortest. Nothing if there is no room for that.
std::optional<Extent> whole_iterations(std::size_t bytes, std::vector<std::size_t> iterations);

class PassDriver {
  public:
    /// `extent`: of each array of a thread; stretches are multiples of its step. Walks once over everything, then tries the
    /// ways. The team must outlive the walk. `resources`: where each thread finds its arrays.
    PassDriver(MonitoredTeam& team, const Extent& extent, std::vector<Way> ways,
               Resources resources = Resources::shared);

    /// One window, in the fastest way.
    void launch(Trace& trace);
    /// Of each array of each thread, in a launch.
    double bytes_per_launch() const { return static_cast<double>(plan_.passes) * static_cast<double>(plan_.bytes); }

    /// What a launch walks over: all of the arrays, or for those that take several launches, the windows walked last. What is
    /// done with them leaves them in the caches, and the next launches come to them last.
    std::vector<Stretch> samples() const;
    /// Walks over it in the fastest way, as a launch would, `passes` times; not timed.
    void run(const Stretch& stretch, std::size_t passes) const;
    /// Of a launch; 1 where it is a window.
    std::size_t passes() const { return plan_.passes; }

    const std::string& fastest() const { return ways_[chosen_].name; }

  private:
    /// How the arrays are cut: windows of `bytes`, walked over `passes` times each.
    struct Plan {
        std::size_t passes = 1;
        std::size_t bytes = 0;
        std::size_t windows = 1;
    };
    Plan plan_for(Seconds target, Seconds pass) const;
    Seconds time_of_pass();
    /// The fastest way's time for a window.
    Seconds search();
    /// Cuts the arrays so from now on. What was walked last is in the caches; so the first window is the first behind it.
    void cut(const Plan& plan);
    Stretch next_window();
    Stretch window(std::size_t index) const;
    void run_way(const Way& way, const Stretch& stretch, std::size_t passes) const;

    MonitoredTeam& team_;
    Extent extent_;
    std::vector<Way> ways_;
    Resources resources_;
    std::size_t chosen_ = 0;
    Plan plan_;
    std::size_t window_ = 0;  ///< the next
    std::size_t end_ = 0;     ///< of the stretch that was walked last
};

}  // namespace roof::cpu
