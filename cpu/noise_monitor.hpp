// A pinned team that times its own work and watches the interference: at what clock its cores run, whether a neighbour shares
// them, whether a thread lost its processor or stumbled over a page, whether the host or a limit took time. What it sees goes to the trace of the launch.
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

/// What has been seen of each processor so far; shared by all teams of a run.
class CoreHistory {
  public:
    enum class Verdict { unknown, undivided, shared, no_clock };

    /// Notes how many independent additions the processor did per clock, and says what that tells. Readings of a core that
    /// nobody shares agree to a few parts in a thousand, those of a shared one are all over the place: so the highest value
    /// on which a quarter of some recent readings agreed is what the core does alone. Fewer additions than that: it was
    /// `shared`. More: the chain of additions was held up, and its clock is too low, `no_clock`. `unknown` until so many agree.
    Verdict judge(int processor, double additions_per_clock);

  private:
    struct Core {
        std::vector<double> recent;
        std::size_t next = 0;  ///< the oldest of them
        double alone = 0;      ///< additions per clock; 0 until seen
    };
    std::map<int, Core> cores_;
};

/// Whether the threads of a launch slow each other: `their_own` is what each does in a core alone, in its registers and its L1.
enum class Resources { shared, their_own };

class MonitoredTeam {
  public:
    MonitoredTeam(const std::vector<int>& processors, std::shared_ptr<CoreHistory> history);

    int size() const { return team_.size(); }
    const PinnedTeam& pinned() const { return team_; }

    /// As PinnedTeam::run: neither timed nor watched.
    void run(const std::function<void(int thread)>& work) const { team_.run(work); }

    /// Runs work(0) … work(size() - 1), all beginning at once, between two looks at each core. Tells the trace the time from
    /// the first beginning to the last end, the mean clock, and what disturbed them.
    ///
    /// Of many threads there is hardly a moment at which none is disturbed. Where each works with what is its own, all run again, up
    /// to twice, as long as one was disturbed each time: each counts as it ran undisturbed, beside the others at work, and
    /// the time is that of their mean rate.
    void launch(Trace& trace, const std::function<void(int thread)>& work, Resources resources = Resources::shared);

  private:
    struct Witness;
    std::vector<Witness> attempt(const std::function<void(int thread)>& work);

    std::vector<int> processors_;
    std::shared_ptr<CoreHistory> history_;
    int clocks_each_ = clocks_of_multiplication();  ///< of an operation of the chain; 0: additions have to do
    CoreProbe chain_{clocks_each_ > 0 ? CoreProbe::Kind::multiplications : CoreProbe::Kind::additions};
    CoreProbe independent_{CoreProbe::Kind::independent};
    PinnedTeam team_;
    StealMonitor steal_;
};

}  // namespace roof::cpu
