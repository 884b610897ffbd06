// The measuring loop, for ceilings and training steps alike.
#pragma once

#include "ert/base/error.hpp"
#include "ert/method/bench/measurement.hpp"
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
class Interrupted : public Error {
  public:
    Interrupted() : Error("interrupted") {}
};

}  // namespace roof
