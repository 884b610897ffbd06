// The measuring loop, for ceilings and training steps alike.
#pragma once

#include "ert/base/error.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/bench/power.hpp"
#include "ert/method/plan/plan.hpp"

#include <filesystem>
#include <functional>
#include <span>
#include <type_traits>

namespace roof {

/// Called after each launch, warm-up included; returning false interrupts the row.
using SampleObserver = std::function<bool(const Sample& sample, int launches_so_far)>;

/// Times one launch, or the launches that the trace asks for at once, whose mean it is. The time excludes the wait for
/// data.
Sample time_launch(const std::function<void(Trace&)>& launch, Trace& trace, const Clock& clock);

/// The estimate of `field`, a member or a function, over the used samples.
template <class Field>
auto estimate_of(const std::vector<Sample>& samples, Field field)
{
    using Unit = std::remove_cvref_t<std::invoke_result_t<Field, const Sample&>>;
    std::vector<double> values;
    int discarded = 0;
    for (const Sample& sample : samples) {
        if (sample.used) values.push_back(std::invoke(field, sample).value);
        if (!sample.used && !sample.disturbance.empty()) ++discarded;
    }
    return Estimate<Unit>::of(values, discarded);
}

/// Median and 95% interval of values in the order of time, which may depend on each other: of a step, the one before.
/// As many of them count as independent as their order allows (the correlation of neighbours, by ranks). With fewer
/// than six such the range is widened.
Spread spread_in_time(std::span<const double> values);

/// The stopping rule: whether these launches, without warm-ups, are enough. Disturbed ones (`used` is false) cost time
/// and are no samples; enough of them end the row too, as on a busy machine. The interval is looked at with 6, 12, 24,
/// … samples, so that an interval that happens to be narrow ends few rows. So does the time that all has taken beside
/// the samples: `elapsed`, since the first of these launches began.
bool is_enough(std::span<const Sample> launches, Seconds elapsed, const StoppingOptions& options);

/// Warms up, checks, then launches until there are enough. `trace`: for as many parts as the subject declares. `host`:
/// watches the machine beside the launches; may be null. Throws what the subject throws, and Interrupted when the
/// observer returns false.
std::vector<Sample> collect(Subject& subject, Trace& trace, const StoppingOptions& options, const Clock& clock,
                            std::vector<PartMeasurement>& parts, const SampleObserver& observer,
                            HostMonitor* host = nullptr);

/// The mean over the used launches, by their times; of each kind of use over the launches that know it.
HostUse mean_host_use(const std::vector<Sample>& samples);

/// Measures one item. Errors of the subject become the row's status and reason; Interrupted and InputError are thrown.
/// Recordings of a profiled item are written to `folder`; a failure of the profiler becomes a remark of the row.
/// `lost_device`: set to true if the row failed by a fault after which this process can use the device no more.
Measurement measure(const Item& item, const BenchRegistry& registry, const Clock& clock,
                    const SampleObserver& observer = {}, const std::filesystem::path& folder = {},
                    bool* lost_device = nullptr);

/// The row of an item that is not measured.
Measurement skipped(const Item& item, const std::string& reason);

/// The user pressed Ctrl-C: the current row is dropped.
struct Interrupted : Error {
    Interrupted() : Error("interrupted") {}
};

// The shares of several processes that measure a step one after another, and their rows as one.

/// The share of each process; and whether that holds six steps as long as this one, the fewest of an interval.
StoppingOptions of_one_process(StoppingOptions all);
bool has_several_processes(const StoppingOptions& options, Seconds step);

/// Whether no further process is needed. Without `max_noise`: after `processes`. With it: of 6, 12 and 24 processes the
/// first whose interval's half-width over the mean is at most `max_noise`; 24 always are.
bool has_enough_processes(const std::vector<Measurement>& rows, const StoppingOptions& options);
int most_processes(const StoppingOptions& options);

/// The time of a step over the used samples of one process, whose interval is spread_in_time().
Estimate<Seconds> time_of_step(const std::vector<Sample>& samples);

/// One row of those of several processes, at least one, with the same parts. Its times are the means of the processes'
/// medians, with Student's interval: launches of one process share its pages, so processes and not launches are the
/// independent observations. `is_looked_at`: by has_enough_processes(), whose looks the interval pays for: each takes a
/// third of the 5%.
Measurement over_processes(const std::vector<Measurement>& rows, bool is_looked_at = false);

// What lasts: the launches of a measured subject, repeated without pause for seconds, with the clock, the power and the
// joules of each window of some tenths of a second.

/// Follows a counter that moves in steps. Between two moves the power is taken as constant.
class EnergyWatch {
  public:
    /// Both must outlive it.
    EnergyWatch(const PowerMeter& meter, const Clock& clock) : meter_(meter), clock_(clock) {}

    /// Reads the meter, unless the last reading is less than 2 ms old.
    void look();
    /// Counted between these moments; 0 if that is not known, because the counter moved fewer than four times between
    /// them (by the meter's interval, else as seen), or not before and after them.
    Joules between(Seconds from, Seconds to) const;
    /// Mean of the readings since the last call; 0 without any.
    Watts take_instant();
    Watts limit() const { return limit_; }

  private:
    struct Move {
        Seconds at;
        double joules = 0;
    };

    const PowerMeter& meter_;
    const Clock& clock_;
    Seconds last_look_{};
    double last_ = 0;  ///< joules
    std::vector<Move> moves_;
    std::vector<double> instants_;
    Watts limit_;
};

/// Fills in `row.sustained` and appends the windows to `row.samples`: of whole launches for `time`, then of a training
/// step's launches up to the end of `forward` and of `backward` for as long, from whose differences the phases' joules
/// follow. The first and the last window of each are in no estimate. Returns remarks. `trace`: the one that the subject
/// was measured with, and is measured with no more. Throws what the subject throws, and Interrupted when the observer,
/// which is called after each window, returns false.
std::vector<std::string> sustain(Subject& subject, Trace& trace, Seconds time, const PowerMeter& meter,
                                 const Clock& clock, const SampleObserver& observer, Measurement& row);

}  // namespace roof
