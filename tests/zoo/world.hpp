// A simulated machine in time: a manual clock, neighbours that come and go, and launches that take the time that the
// machine, its clock and its neighbours give them. It keeps what a launch lost to neighbours, for the truth.
#pragma once

#include "tests/fakes/fake_registry.hpp"
#include "tests/zoo/model.hpp"

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace roof::zoo {

/// Works for a time, rests for a time; both are exponential.
class Neighbour {
  public:
    /// `duty`: the share of the time at work. `burst`: mean seconds at work. Each burst has a strength within the
    /// range. `is_regular`: each time at work, and at rest, is as long as the mean.
    Neighbour(double duty, double burst, const Range& strength, Random& random, bool is_regular = false);

    /// Time only grows.
    void go_to(double seconds, Random& random);
    /// The share that it takes now; 0 at rest.
    double takes() const { return works_ ? strength_ : 0; }
    bool works() const { return works_; }
    double next_change() const { return until_; }

  private:
    void begin(bool works, double now, Random& random);

    double duty_ = 0;
    double burst_ = 0;
    Range range_{};
    bool is_regular_ = false;
    bool works_ = false;
    double strength_ = 0;
    double until_ = std::numeric_limits<double>::infinity();
};

/// What a launch is to do: seconds of each thread, on an undisturbed core of the first kind at the nominal clock.
struct Task {
    Parts parts;
    int threads = 1;
    bool packs_cores = false;
    bool is_wide = false;      ///< widest vectors
    bool is_in_cores = false;  ///< threads use only their own cores and caches: the monitor repeats disturbed ones
    bool is_waiting = false;   ///< too little traffic to empty a bucket
    double slower = 1;         ///< of this row: an unlucky loop
    double clock_read_as = 1;  ///< of this row: what the reading of the clock is multiplied by
};

struct Timing {
    double seconds = 0;
    double clock = 0;              ///< as read; 0: not known
    std::string_view disturbed{};  ///< as the monitor says; empty if it saw nothing
    double kept = 1;               ///< undisturbed time over the time taken, without noise
};

class World {
  public:
    /// `earlier`: the same machine at the look before; null at the first of `looks`. Between looks its neighbours have
    /// changed. An event that lasts falls into one of them, and has happened in those after it.
    explicit World(Model given, const World* earlier = nullptr, int looks = 1);

    const Model& model() const { return model_; }
    const fakes::ManualClock& clock() const { return clock_; }
    Random& random() { return random_; }

    /// Time passes on one thread, without launches.
    void pass(double seconds);
    Timing launch(const Task& given);
    /// The cores rest, which lowers the clock of some machines.
    void rest() { rested_at_ = now(); }
    /// The share of the last cache that neighbours leave now.
    double cache_held() const;
    /// The rate of such work now, as a share of that without events and at the nominal clock.
    double lasting(Parts parts, bool follows_clock) const;
    /// The clock of the cores now, without readings.
    double hertz_now(bool is_wide);

    // What happened so far, of the clock's mean and the seconds in this look.
    int look() const { return look_; }                                                    ///< from 0
    double mean_clock() const { return clock_time_ > 0 ? clock_sum_ / clock_time_ : 1; }  ///< over the nominal one
    double fastest_clock() const { return fastest_clock_; }
    double seconds() const { return *clock_.now - begin_; }
    /// Timing::kept of each launch that counts, by what it measured.
    std::vector<float>& kept(const std::string& key) { return kept_[key]; }
    const std::map<std::string, std::vector<float>>& all_kept() const { return kept_; }

  private:
    struct ThreadRun {
        double seconds = 0;
        bool is_touched = false;  ///< by a sibling
        bool is_stolen = false;   ///< the kernel's count grew
    };
    struct Attempt {
        std::vector<ThreadRun> threads;
        double seconds = 0;
        bool is_throttled = false;
    };

    double now() const { return *clock_.now; }
    void go_to(double seconds);
    double clock_share() const;
    bool has_changed() const { return now() - begin_ >= model_.change_at; }
    /// Under the events of this time.
    Parts paced(Parts parts) const;
    double in_memory(double seconds) const;
    Parts slowed(const Task& task, int thread, double clock) const;
    Attempt attempt(const Task& task, double clock);
    int core_of(const Task& task, int thread) const;
    double next_change(int cores) const;
    double end_of_period() const;
    double until_throttled(int threads) const;
    void wait_for_quota();

    const int look_;
    const Model model_;
    Random random_;
    fakes::ManualClock clock_;
    double begin_;
    std::vector<Neighbour> siblings_;  ///< one of each core; may be none
    std::vector<Neighbour> thieves_;
    std::vector<Neighbour> memory_;  ///< the bus, or the second rate
    std::vector<Neighbour> slow_clock_;
    std::vector<double> stolen_;  ///< seconds of each core
    double used_ = 0;             ///< processor seconds in this period of the control group
    double period_ = 0;           ///< its number
    int launches_ = 0;
    double clock_sum_ = 0, clock_time_ = 0, fastest_clock_ = 0;
    double counted_to_ = 0;
    double rested_at_ = 0;
    double tokens_ = 0;           ///< of the bucket, seconds
    double tokens_from_ = 0;      ///< when they were that many
    std::vector<double> speeds_;  ///< of each thread in a step
    std::map<std::string, std::vector<float>> kept_;
};

}  // namespace roof::zoo
