// What a subject says about a launch while it runs: which of its parts is at work, how long it waited for data, the loss it
// saw; and, where it knows better than a clock outside, how long the launch took, at what clock, and what disturbed it. It
// is given to every launch; a subject with nothing to say ignores it.
#pragma once

#include "ert/method/bench/clock.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// What the device says of itself beside a launch; 0: it does not say.
struct Conditions {
    Hertz memory_clock{};
    double watts = 0;
    double celsius = 0;
};

/// Told which part's work is being put on its way, on the thread that does so and around each of its calls: a profiler names
/// by it what the device then reports. Parts are numbered as in Subject::parts(); they do not nest. A graph of launches is
/// captured in the first launch that is given to the subject, under the same calls.
struct PartListener {
    std::function<void(std::size_t part)> enter;
    std::function<void()> leave;
};

/// What one launch's communication with other ranks cost.
struct Communication {
    Seconds exposed{};  ///< the launch stood still for it
    Seconds hidden{};   ///< it was under way beside the launch's own work
    Bytes bytes{};      ///< of all messages, as one rank holds them
};

class Trace {
  public:
    /// `parts`: the number of parts the subject declared. The clock must outlive the trace.
    Trace(const Clock& clock, std::size_t parts) : clock_(clock), seconds_(parts) {}

    /// While the returned object lives, what is launched belongs to the part; its time is not taken.
    class Launching {
      public:
        Launching(const Trace& trace, std::size_t part) : listener_(trace.listener_)
        {
            if (listener_ != nullptr) listener_->enter(part);
        }
        ~Launching()
        {
            if (listener_ != nullptr) listener_->leave();
        }
        Launching(const Launching&) = delete;
        Launching& operator=(const Launching&) = delete;

      private:
        const PartListener* listener_;
    };
    [[nodiscard]] Launching launching(std::size_t part) const { return Launching(*this, part); }

    /// Adds the life of the returned object to the part's time.
    class Span {
      public:
        Span(Trace& trace, std::size_t part)
            : launching_(trace, part), trace_(trace), part_(part), begin_(trace.clock_())
        {
        }
        ~Span() { trace_.seconds_[part_] += trace_.clock_() - begin_; }
        Span(const Span&) = delete;
        Span& operator=(const Span&) = delete;

      private:
        Launching launching_;
        Trace& trace_;
        std::size_t part_;
        Seconds begin_;
    };
    [[nodiscard]] Span part(std::size_t index) { return Span(*this, index); }
    /// The part's time as the device's own events have it.
    void part_took(std::size_t index, Seconds seconds) { seconds_[index] += seconds; }

    /// From now on; it must outlive the launches. Null: nobody listens.
    void tell(const PartListener* listener) { listener_ = listener; }

    /// Runs `wait` on the trace's clock and keeps its time apart from the launch's own; returns what it returns.
    template <class Wait>
    auto waiting_for_data(const Wait& wait)
    {
        const Seconds begin = clock_();
        auto data = wait();
        data_ += clock_() - begin;
        return data;
    }
    /// The launch waited this long for input.
    void waited_for_data(Seconds seconds) { data_ += seconds; }
    void saw_loss(double loss) { loss_ = loss; }

    /// The launch proper, timed from within: without the start of threads, or by the device's own events.
    void took(Seconds seconds) { took_ = seconds; }
    /// The clock of the cores beside the launch.
    void ran_at(Hertz clock) { clock_rate_ = clock; }
    void ran_under(const Conditions& conditions) { conditions_ = conditions; }
    void communicated(const Communication& communication) { communication_ = communication; }
    /// Something other than the subject was seen at work: the launch is kept, counted, and left out of the estimates. `why`
    /// is one of few words ("lost its processor"), which are counted. The first one said counts.
    void disturbed(std::string_view why)
    {
        if (disturbance_.empty()) disturbance_ = why;
    }

    /// Forgets the last launch; called by the measuring loop before each one.
    void reset();

    const std::vector<Seconds>& part_seconds() const { return seconds_; }
    Seconds data_seconds() const { return data_; }
    std::optional<double> loss() const { return loss_; }
    std::optional<Seconds> time_taken() const { return took_; }
    Hertz clock_rate() const { return clock_rate_; }  ///< 0 if not said
    const Conditions& conditions() const { return conditions_; }
    const Communication& communication() const { return communication_; }
    const std::string& disturbance() const { return disturbance_; }

  private:
    const Clock& clock_;
    const PartListener* listener_ = nullptr;
    std::vector<Seconds> seconds_;
    Seconds data_{};
    std::optional<double> loss_;
    std::optional<Seconds> took_;
    Hertz clock_rate_{};
    Conditions conditions_{};
    Communication communication_{};
    std::string disturbance_;
};

}  // namespace roof
