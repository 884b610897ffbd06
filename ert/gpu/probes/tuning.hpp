// How a probe settles, when it is made, on the fastest of several ways to do its work, and on how often to repeat it in one
// launch, so that neither the events' resolution nor the cost of a launch shows in its rate.
#pragma once

#include "ert/gpu/noise_monitor.hpp"

#include <functional>
#include <string>
#include <vector>

namespace roof::gpu {

/// Launches are sized to last about this long, trials a part of it.
inline constexpr Seconds launch_length{0.004};
inline constexpr Seconds trial_length{0.001};

struct Way {
    std::string name;                                ///< for the variant of the row
    double work = 1;                                 ///< of one repetition, in any unit that all ways share
    std::function<void(long long repeats)> enqueue;  ///< puts so many repetitions into the stream
};

struct Tuned {
    std::size_t way = 0;
    long long repeats = 1;  ///< of a launch
};

/// Repetitions that take `length` if `tried` of them took `taken`; at least 1, at most `most`.
long long repeats_for(Seconds length, Seconds taken, long long tried, long long most);

/// Of `ways`, at least one, the one with the most work per time; settled, so that the clock is up. No launch repeats more
/// than `most` times, and one of the chosen way takes about `length`. Throws Error.
Tuned tune(const MonitoredStream& stream, const std::vector<Way>& ways, long long most, Seconds length = launch_length);

/// A watched stream and the way its probe settled on.
class TunedStream {
  public:
    TunedStream(DeviceId id, std::shared_ptr<const Nvml> nvml) : stream_(id, std::move(nvml)) {}

    /// As tune(). Before any of what follows.
    void settle_on_fastest(std::vector<Way> ways, long long most, Seconds length = launch_length);

    const MonitoredStream& stream() const { return stream_; }
    long long repeats() const { return tuned_.repeats; }
    double work() const { return chosen().work * static_cast<double>(tuned_.repeats); }
    std::size_t way() const { return tuned_.way; }
    const std::string& variant() const { return chosen().name; }

    void launch(Trace& trace);
    /// So many repetitions of the chosen way, neither watched nor told.
    void run(long long repeats) const;

  private:
    const Way& chosen() const { return ways_[tuned_.way]; }

    MonitoredStream stream_;
    std::vector<Way> ways_;
    Tuned tuned_;
};

}  // namespace roof::gpu
