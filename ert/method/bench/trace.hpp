// A subject reports to the trace during a launch: the part that runs, the wait for data and the loss. A subject that
// measures the launch's time, clock or disturbance itself reports these too, in place of the measuring loop's.
#pragma once

#include "ert/method/bench/clock.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roof {

/// Take part in no other quantity.
struct Joules {
    double value = 0;
};
struct Watts {
    double value = 0;
};

/// The device's state beside a launch; 0: not known.
struct Conditions {
    Hertz memory_clock{};
    double watts = 0;  ///< of a GPU on average over the last second
    double celsius = 0;
    Watts instant{};  ///< mean of the readings during a window
    Watts limit{};    ///< of the power
};

/// Called around each launch of a part's work, on its thread, so that a profiler can assign the device's records.
/// Parts are numbered as in Subject::parts(), do not nest, and are the same while a first launch captures a graph.
struct PartListener {
    std::function<void(std::size_t part)> enter;
    std::function<void()> leave;
};

/// What a profiler does during a launch. A recorded launch does the work of one launch and nothing beside it. A counted
/// one launches kernel by kernel: in CUDA graphs, CUPTI counts no instructions (0 of each kind on an H100, CUPTI 13.0).
enum class Recording { none, traced, counted };

/// The cost of one launch's communication with other ranks.
struct Communication {
    Seconds exposed{};  ///< the launch waited for it
    Seconds hidden{};   ///< it ran beside the launch's own work
    Bytes bytes{};      ///< of all messages, as one rank holds them
};

// What else used the machine beside a launch. A step's samples are not left out for it: they show what a busy machine
// costs.

/// During one launch, or the mean over launches. Empty: not known.
struct HostUse {
    std::optional<double> others{};  ///< processors that other processes used, on average
    std::optional<double> stolen{};  ///< processors that the host of this virtual machine took, on average
    std::optional<double>
        waited{};  ///< share of the time that this process's thread that waited longest had no processor
    std::optional<double> shared{};  ///< share of the readings in which the core was shared; not with several threads
};

/// Called directly before and after a launch, on the launching thread.
class HostMonitor {
  public:
    virtual ~HostMonitor() = default;
    virtual void begin() = 0;
    virtual HostUse end() = 0;
};
using MakeHostMonitor = std::function<std::unique_ptr<HostMonitor>()>;

/// One launch; or a window of launches repeated without pause (ert/method/plan/measure.hpp), of which times are the
/// means. Phases are those of a training step; a probe has none.
struct Sample {
    Seconds seconds;  ///< without the wait for data
    Seconds data;     ///< the wait for data
    Seconds forward;
    Seconds backward;
    Seconds update;
    std::optional<double> loss;
    Hertz clock;                    ///< of the cores beside the launch; 0 if not known
    std::string disturbance;        ///< the reason if it was disturbed; else empty
    bool used = true;               ///< false: warm-up, or disturbed, and left out of the estimates
    Communication communication{};  ///< with other ranks; all 0 without
    Conditions conditions{};        ///< memory clock, power and temperature, by the device
    HostUse host{};                 ///< of training steps
    std::string window{};  ///< "whole", "forward" or "forward and backward": what was repeated; empty: one launch
    int launches = 1;      ///< in the window
    Joules energy{};       ///< of a launch of the window, by the device's counter; 0 if not known
};

class Trace {
  public:
    /// `parts`: the number of parts the subject declared. The clock must outlive the trace.
    Trace(const Clock& clock, std::size_t parts) : clock_(clock), seconds_(parts) {}

    struct LeavePart {
        void operator()(const PartListener* listener) const { listener->leave(); }
    };
    using Launching = std::unique_ptr<const PartListener, LeavePart>;
    /// While the returned object lives, launches belong to the part; they are not timed.
    [[nodiscard]] Launching launching(std::size_t part) const
    {
        if (listener_ != nullptr) listener_->enter(part);
        return Launching(listener_);
    }

    struct EndPart {
        Launching launching;
        std::size_t part;
        Seconds begin;
        void operator()(Trace* trace) const { trace->seconds_[part] += trace->clock_() - begin; }
    };
    using Span = std::unique_ptr<Trace, EndPart>;
    /// Adds the lifetime of the returned object to the part's time.
    [[nodiscard]] Span part(std::size_t index) { return {this, EndPart{launching(index), index, clock_()}}; }
    /// Adds to the part's time a time measured by the device's events.
    void part_took(std::size_t index, Seconds seconds) { seconds_[index] += seconds; }

    /// Sets the listener, which must outlive the launches; may be null.
    void set_listener(const PartListener* listener) { listener_ = listener; }

    /// For the launches from now on.
    void set_recording(Recording recording) { recording_ = recording; }
    Recording recording() const { return recording_; }

    /// Asks the launches from now on to do their work so many times without pause, if they can, and to call `beside`
    /// now and then meanwhile.
    void set_repeats(int times, std::function<void()> beside)
    {
        repeats_ = times;
        beside_ = std::move(beside);
    }
    int repeats() const { return repeats_; }
    const std::function<void()>& beside() const { return beside_; }

    /// Runs `wait` and records its time as a wait for data; returns its result.
    template <class Wait>
    auto waiting_for_data(const Wait& wait)
    {
        const Seconds begin = clock_();
        auto data = wait();
        sample_.data += clock_() - begin;
        return data;
    }
    /// Adds to the wait for data.
    void waited_for_data(Seconds seconds) { sample_.data += seconds; }
    void saw_loss(double loss) { sample_.loss = loss; }

    /// The launch's time as the subject measured it, without the start of threads or by the device's events.
    /// `launches`: how often it did its work in that time.
    void took(Seconds seconds, int launches = 1)
    {
        took_ = seconds;
        sample_.launches = launches;
    }
    /// The clock of the cores beside the launch.
    void ran_at(Hertz clock) { sample_.clock = clock; }
    void ran_under(const Conditions& conditions) { sample_.conditions = conditions; }
    void communicated(const Communication& communication) { sample_.communication = communication; }
    /// Marks the launch as disturbed: it is recorded but left out of the estimates. `why` is one of a few fixed texts,
    /// which are counted; the first one counts.
    void disturbed(std::string_view why)
    {
        if (sample_.disturbance.empty()) sample_.disturbance = why;
    }

    /// Clears the last launch; called by the measuring loop before each one.
    void reset()
    {
        std::ranges::fill(seconds_, Seconds{});
        sample_ = {};
        took_.reset();
    }

    const std::vector<Seconds>& part_seconds() const { return seconds_; }
    Seconds data_seconds() const { return sample_.data; }
    std::optional<Seconds> time_taken() const { return took_; }
    /// What was reported beside the times of the launch and of its phases.
    const Sample& sample() const { return sample_; }

  private:
    const Clock& clock_;
    const PartListener* listener_ = nullptr;
    Recording recording_ = Recording::none;
    int repeats_ = 1;
    std::function<void()> beside_;
    std::vector<Seconds> seconds_;
    Sample sample_;
    std::optional<Seconds> took_;
};

}  // namespace roof
