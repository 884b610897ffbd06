// A pinned team of threads that times its own work and detects interference: the clock of its cores, neighbours on them, context
// switches, page faults, steal time and throttling. The results go to the trace of the launch.
#pragma once

#include "cpu/affinity.hpp"
#include "cpu/kernels/core_probe.hpp"
#include "cpu/steal_time.hpp"
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

    /// Adds a reading of the processor's independent additions per clock and judges it. Readings of an unshared core agree to a few
    /// parts in a thousand; those of a shared core vary widely. So the rate of the core alone is the highest value on which a
    /// quarter of the recent readings agreed. A lower reading: `shared`. A higher one: `no_clock`, since the chain was delayed and
    /// its clock reads too low. `unknown` until enough readings agree.
    Verdict judge(int processor, double additions_per_clock);

  private:
    struct Core {
        std::vector<double> recent;
        std::size_t next = 0;  ///< the oldest of them
        double alone = 0;      ///< additions per clock; 0 if not known
    };
    std::map<int, Core> cores_;
};

/// Whether the threads of a launch can slow each other; `their_own`: each uses only its own core's registers and L1.
enum class Resources { shared, their_own };

class MonitoredTeam {
  public:
    MonitoredTeam(const std::vector<int>& processors, std::shared_ptr<CoreHistory> history);

    int size() const { return team_.size(); }
    const PinnedTeam& pinned() const { return team_; }
    const Clock& clock() const { return clock_; }

    /// As PinnedTeam::run; neither timed nor monitored.
    void run(const std::function<void(int thread)>& work) const { team_.run(work); }

    /// Runs work(0) … work(size() - 1), all starting together, between two readings of each core. The trace gets the time from the
    /// first start to the last end, the mean clock, and what disturbed the launch.
    ///
    /// With many threads some thread is nearly always disturbed. With Resources::their_own and several threads, all run again, up to
    /// twice, until each thread had an undisturbed run; the time is then that of the threads' mean rate.
    void launch(Trace& trace, const std::function<void(int thread)>& work, Resources resources = Resources::shared);

  private:
    struct ThreadRecord;
    std::vector<ThreadRecord> attempt(const std::function<void(int thread)>& work);

    std::vector<int> processors_;
    std::shared_ptr<CoreHistory> history_;
    Clock clock_ = steady_clock();
    int clocks_each_ =
        clocks_of_multiplication(clock_);  ///< per operation of the chain; 0: not known, additions are used
    CoreProbe chain_{clocks_each_ > 0 ? CoreProbe::Kind::multiplications : CoreProbe::Kind::additions};
    CoreProbe independent_{CoreProbe::Kind::independent};
    PinnedTeam team_;
    StealMonitor steal_;
};

}  // namespace roof::cpu
