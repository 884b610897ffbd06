// Hardware counters of kernels that a program launches by itself: each kernel from the next launch on is counted, alone, by CUPTI's
// automatic ranges and kernel replay, until there are enough. What cannot be repeated alone is launched with the counters off: CUDA
// graphs, whose kernels CUPTI would number among the others, and collectives, which wait for other devices. While a graph is captured
// they are off, too. Not yet run on hardware.
#pragma once

#include "ert/cupti/range_profiler.hpp"
#include "ert/cupti/watcher.hpp"
#include "ert/recording/records.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace roof::cupti {

struct CountingOrder {
    std::map<std::string, std::vector<std::string>> metrics;  ///< by chip, as the driver names it
    std::size_t most = 2000;                                  ///< kernels
    std::function<bool()> is_wanted{};                        ///< asked before each kernel; null: all are
};

class LaunchCounter {
  public:
    LaunchCounter(std::shared_ptr<const Cupti> cupti, CountingOrder order);

    /// Before each call of the program, on the thread that makes it. Whatever goes wrong ends the counting and is a note.
    void before(const UpcomingCall& call) noexcept;
    /// Counts no more; from any thread.
    void finish() noexcept;
    /// There were enough, or there can be none.
    bool is_finished() const;
    /// There can be none, and none was counted before.
    bool has_failed() const;

    /// Of all kernels counted so far, in the order of their launches; forgotten here.
    std::vector<CounterRecord> take();
    /// What was not counted, each with its reason.
    std::vector<std::string> notes() const;

  private:
    void look_at(const UpcomingCall& call);
    bool is_countable(const UpcomingCall& call);
    void forget(CUcontext context);
    void open(CUcontext context);
    void close();
    void keep(const std::vector<CountedRange>& counted);
    void end(const std::string& reason);

    std::shared_ptr<const Cupti> cupti_;
    CountingOrder order_;
    mutable std::mutex mutex_;
    bool is_finished_ = false;
    std::string reason_;
    CUcontext context_ = nullptr;  ///< the one whose kernels are counted: the first that launched any
    std::string device_;
    std::optional<RangeProfiler> profiler_;
    std::unique_ptr<Counting> counting_;  ///< null while the counters are off
    std::vector<LaunchSeen> launches_;    ///< since they were last switched on
    std::size_t counted_ = 0;
    std::size_t switched_on_ = 0;
    std::size_t graphs_ = 0, collectives_ = 0, elsewhere_ = 0, unnamed_ = 0;
    std::vector<CounterRecord> records_;
};

}  // namespace roof::cupti
