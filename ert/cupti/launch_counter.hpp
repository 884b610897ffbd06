// Hardware counters of the kernels of any program. From the next launch on each kernel is counted by itself, with
// CUPTI's automatic ranges and kernel replay, until there are enough. The counters are switched off for what cannot be
// repeated by itself: CUDA graphs, whose kernels CUPTI would number among the others, and collectives, which wait for
// other devices; and while a graph is captured.
#pragma once

#include "ert/cupti/chips.hpp"
#include "ert/cupti/range_profiler.hpp"
#include "ert/cupti/subscriber.hpp"
#include "ert/recording/records.hpp"

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace roof::cupti {

// Counted values as rows of counters.csv.

/// One row for each metric that has a value; CUPTI gives NaN where a pass saw another range than the others. Returns
/// how many have none. `launch`: the number of the kernel, empty for phases and steps.
inline std::size_t append_counters(std::vector<CounterRecord>& rows, const std::string& device, CounterScope scope,
                                   Number launch, const LaunchSeen& seen, const Chip& chip,
                                   const std::vector<std::string>& metrics, const std::vector<double>& values)
{
    std::size_t unknown = 0;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
        if (std::isfinite(values[i]))
            rows.push_back({device, scope, seen.label.layer, seen.label.phase, seen.kernel, launch, metrics[i],
                            values[i], chip.unit(metrics[i])});
        else
            ++unknown;
    }
    return unknown;
}

/// A remark about metrics without a value.
inline std::string without_value(std::size_t metrics)
{
    return "CUPTI gave no value for " + std::to_string(metrics) + " counters, which are left out";
}

struct CountingOrder {
    std::map<std::string, std::vector<std::string>> metrics;  ///< by the driver's name of the chip
    std::size_t max_kernels = 2000;
    std::function<bool()> is_wanted{};  ///< whether to count the next kernel; null: count all
};

class LaunchCounter {
  public:
    LaunchCounter(std::shared_ptr<const Cupti> cupti, CountingOrder order)
        : cupti_(std::move(cupti)), order_(std::move(order))
    {
    }

    /// Called before each call of the program, on its thread. Any error ends the counting and becomes a note.
    void before(const UpcomingCall& call) noexcept;
    /// Ends the counting. From any thread.
    void finish() noexcept;
    /// Enough kernels were counted, or none can be counted.
    bool is_finished() const;
    /// None can be counted, and none was.
    bool has_failed() const;

    /// Returns and removes the rows of all kernels counted so far, in the order of their launches.
    std::vector<CounterRecord> take();
    /// What was not counted, with reasons.
    std::vector<std::string> notes() const;

  private:
    void count(const UpcomingCall& call);
    bool is_countable(const UpcomingCall& call);
    void end_of_context(CUcontext context);
    void open(CUcontext context);
    void close();
    void add_rows(const std::vector<CountedRange>& counted);
    void end(const std::string& reason);

    std::shared_ptr<const Cupti> cupti_;
    CountingOrder order_;
    mutable std::mutex mutex_;
    bool is_finished_ = false;
    std::string reason_;
    CUcontext context_ = nullptr;  ///< whose kernels are counted: the first that launched any
    std::string device_;
    std::optional<RangeProfiler> profiler_;
    std::unique_ptr<Counting> counting_;  ///< null while the counters are off
    std::vector<LaunchSeen> launches_;    ///< since they were last switched on
    std::size_t counted_ = 0;
    std::size_t switched_on_ = 0;
    std::size_t graphs_ = 0, collectives_ = 0, elsewhere_ = 0, unnamed_ = 0, unknown_ = 0;
    std::vector<CounterRecord> records_;
};

}  // namespace roof::cupti
