// A pinned team of threads that times its work and detects interference: clock changes, other threads on its cores,
// context switches, page faults, steal time and throttling. The results go to the trace of the launch.
#pragma once

#include "cpu/affinity.hpp"
#include "cpu/host_monitor.hpp"
#include "cpu/kernels/core_probe.hpp"
#include "cpu/topology.hpp"
#include "ert/method/bench/trace.hpp"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace roof::cpu {

/// The readings of each processor so far; shared by all teams of a run.
class CoreHistory {
  public:
    enum class Verdict { unknown, undivided, shared, no_clock };

    explicit CoreHistory(AlikeCores alike = {});

    /// Adds a reading of the processor's independent additions per clock and judges it. Readings of an unshared core
    /// agree to a few parts in a thousand; those of a shared core vary widely. The rate of an unshared core is the
    /// highest value on which a quarter of the recent readings of a core agree; alike cores have the highest of all of
    /// them, so that a core that is shared all the time is seen. A lower reading gives `shared`. A higher one gives
    /// `no_clock`: the chain was delayed and its clock is too low. The result is `unknown` until enough readings agree.
    Verdict judge(int processor, double additions_per_clock);

    /// The processor for one thread: of the near cores, the one with the largest share of recent readings in which it
    /// was not shared, the first of equal ones. Cores that have too few readings are read now, all at once, which takes
    /// some milliseconds. `otherwise`, if no cores are known to be alike.
    int quietest(int otherwise);

  private:
    struct Core {
        std::vector<double> recent;
        std::size_t next = 0;  ///< the oldest reading
    };
    double& alone(int processor);
    double share_undivided(int processor);

    AlikeCores alike_;
    std::map<int, Core> cores_;
    std::map<int, double> alone_;  ///< additions per clock of the unshared core, by the first alike core; 0: unknown
};

struct CoreReading {
    Hertz clock;
    double additions_per_clock = 0;
};

/// Reads the core that it is called on; a reading takes about 35 microseconds. Threads may share one.
class CoreReader {
  public:
    /// Measures the latency of a multiplication, for about a millisecond.
    explicit CoreReader(Clock clock) : clock_(std::move(clock)) {}

    CoreReading read() const;
    Hertz clock_rate() const;

  private:
    Clock clock_;
    int multiplication_ = clocks_of_multiplication(clock_);  ///< clocks; 0: unknown, additions are used
    CoreProbe chain_{multiplication_ > 0 ? CoreProbe::Kind::multiplications : CoreProbe::Kind::additions};
    CoreProbe independent_{CoreProbe::Kind::independent};
};

/// Whether the threads of a launch can slow each other. `their_own`: each uses only its core's registers and L1.
enum class Resources { shared, their_own };

class MonitoredTeam {
  public:
    MonitoredTeam(const std::vector<int>& processors, std::shared_ptr<CoreHistory> history);

    int size() const { return team_.size(); }
    const PinnedTeam& pinned() const { return team_; }
    const Clock& clock() const { return clock_; }

    /// As PinnedTeam::run; not timed or monitored.
    void run(const std::function<void(int thread)>& work) const { team_.run(work); }

    /// Runs work(0) … work(size() - 1), each as often as the trace asks, all started together, between two readings of
    /// each core. The trace gets the time from the first start to the last end, the mean of the clocks that are known,
    /// and the launch's disturbances.
    ///
    /// With many threads, at least one is disturbed in nearly every launch. With Resources::their_own and several
    /// threads, all repeat the work up to twice until each thread has an undisturbed run. The time is then that of the
    /// threads' mean rate.
    void launch(Trace& trace, const std::function<void(int thread)>& work, Resources resources = Resources::shared);

    /// The mean clock of the team's cores now; zero if it cannot be read.
    Hertz read_clock() const;
    /// Waits until it is back at `clock` within the usual variation, at most a tenth of a second.
    void wait_for_clock(Hertz clock) const;

  private:
    struct ThreadRecord;
    std::vector<ThreadRecord> attempt(const std::function<void(int thread)>& work);

    std::vector<int> processors_;
    std::shared_ptr<CoreHistory> history_;
    Clock clock_ = steady_clock();
    CoreReader reader_{clock_};
    PinnedTeam team_;
    StealMonitor steal_;
};

}  // namespace roof::cpu
