#include "cpu/counters/step_counters.hpp"

#include "ert/base/error.hpp"
#include "ert/recording/record_files.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>

namespace roof::cpu {
namespace {

std::vector<pid_t> threads()
{
    std::vector<pid_t> ids;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error))
        ids.push_back(std::stoi(entry.path().filename().string()));
    if (error) throw Unsupported("the threads of this process cannot be listed in /proc (" + error.message() + ")");
    return ids;
}

struct Reading {
    std::uint64_t value, enabled, running;
};

constexpr double bytes_of_line = 64;

std::vector<EventCode> codes_of(const std::vector<NamedEvent>& events)
{
    std::vector<EventCode> codes;
    for (const NamedEvent& event : events) codes.push_back(event.code);
    return codes;
}

bool is_flops(Counts counts)
{
    return counts == Counts::fp32 || counts == Counts::fp64 || counts == Counts::any;
}

/// State shared by the functions of one Profile.
class StepCount {
  public:
    StepCount(const std::vector<NamedEvent>& events, const std::vector<TimedPart>& parts, bool programs)
        : events_(events),
          parts_(parts),
          counters_(codes_of(events), programs),
          step_(events.size()),
          by_part_(parts.size(), std::vector<double>(events.size()))
    {
    }

    void enter(std::size_t part)
    {
        if (!counting_) return;
        part_ = part;
        before_ = counters_.counts();
    }

    void leave()
    {
        if (!counting_) return;
        const std::vector<EventCount> after = counters_.counts();
        // Scaled counts can decrease over a short segment.
        for (std::size_t i = 0; i < events_.size(); ++i)
            by_part_.at(part_)[i] += std::max(0.0, after[i].value - before_[i].value);
    }

    void trace(const Launch& launch)
    {
        counting_ = true;
        counters_.start();
        launch();
        counters_.stop();
        counting_ = false;
        ++steps_;
        const std::vector<EventCount> counts = counters_.counts();
        for (std::size_t i = 0; i < events_.size(); ++i) {
            step_[i] += counts[i].value;
            least_share_ = std::min(least_share_, counts[i].share_of_time);
        }
    }

    std::vector<std::string> remarks() const
    {
        if (steps_ == 0 || least_share_ > 0.99) return {};
        return {fmt::format(
            "there are more events than counters: they took turns, and counts are scaled up from {:.0f}% of "
            "the time at the least",
            100 * least_share_)};
    }

    void write(const std::filesystem::path& folder, const std::string& id) const
    {
        std::vector<CounterRecord> records;
        if (steps_ == 0) return;
        add(records, {"cpu", CounterScope::step, {}, {}, {}, {}, {}, 0, {}}, step_);
        for (std::size_t part = 0; part < parts_.size(); ++part)
            add(records,
                {"cpu",
                 CounterScope::phase,
                 parts_[part].layer,
                 std::string(name(parts_[part].phase)),
                 {},
                 {},
                 {},
                 0,
                 {}},
                by_part_[part]);
        append_records<CounterRecord>(folder, id, records);
    }

  private:
    void add(std::vector<CounterRecord>& records, CounterRecord record, const std::vector<double>& counts) const
    {
        std::map<Counts, double> sums;
        for (std::size_t i = 0; i < events_.size(); ++i) {
            record.metric = events_[i].name;
            record.value = counts[i] / steps_;
            record.unit = "event";
            records.push_back(record);
            sums[events_[i].counts] += record.value * events_[i].each;
        }
        for (const auto& [counted, sum] : sums) {
            record.metric = name(counted);
            record.value = is_flops(counted) ? sum : bytes_of_line * sum;
            record.unit = is_flops(counted) ? "FLOP" : "byte";
            records.push_back(record);
        }
    }

    std::vector<NamedEvent> events_;
    std::vector<TimedPart> parts_;
    ProcessCounters counters_;
    bool counting_ = false;
    std::size_t part_ = 0;
    std::vector<EventCount> before_;
    std::vector<double> step_;                  ///< per event, over all traced launches
    std::vector<std::vector<double>> by_part_;  ///< the same for each part
    int steps_ = 0;
    double least_share_ = 1;
};

std::vector<NamedEvent> events_of(const Machine& machine)
{
    const EventTable* const table = event_table(machine.vendor, machine.family, machine.model);
    if (table == nullptr)
        throw Unsupported(fmt::format("no table of events for family {}, model {} of {}", machine.family, machine.model,
                                      machine.vendor));
    std::vector<NamedEvent> events;
    for (const CountedEvent& event : table->events) {
        const std::string name = fmt::format("{}::{}", table->pmu, event.event);
        events.push_back({name, encode(name), event.counts, event.each});
    }
    return events;
}

}  // namespace

ProcessCounters::ProcessCounters(std::span<const EventCode> events, bool children)
{
    for (const EventCode& event : events) open(event, children, descriptors_.emplace_back());
}

ProcessCounters::~ProcessCounters()
{
    close();
}

void ProcessCounters::close()
{
    for (const std::vector<int>& event : descriptors_)
        for (const int descriptor : event) ::close(descriptor);
    descriptors_.clear();
}

void ProcessCounters::open(const EventCode& event, bool children, std::vector<int>& descriptors)
{
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = event.type;
    attributes.config = event.config;
    attributes.config1 = event.config1;
    attributes.disabled = 1;
    attributes.inherit = children ? 1 : 0;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    for (const pid_t thread : threads()) {
        const long descriptor = ::syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (descriptor < 0) {
            const int error = errno;
            if (error == ESRCH) continue;  // the thread has ended
            close();
            throw Unsupported("perf_event_open: " + std::string(std::strerror(error)));
        }
        descriptors.push_back(static_cast<int>(descriptor));
    }
}

void ProcessCounters::start()
{
    for (const std::vector<int>& event : descriptors_)
        for (const int descriptor : event) {
            ::ioctl(descriptor, PERF_EVENT_IOC_RESET, 0);
            ::ioctl(descriptor, PERF_EVENT_IOC_ENABLE, 0);
        }
}

void ProcessCounters::stop()
{
    for (const std::vector<int>& event : descriptors_)
        for (const int descriptor : event) ::ioctl(descriptor, PERF_EVENT_IOC_DISABLE, 0);
}

std::vector<EventCount> ProcessCounters::counts() const
{
    std::vector<EventCount> counts;
    for (const std::vector<int>& event : descriptors_) {
        EventCount count;
        double enabled = 0, running = 0;
        for (const int descriptor : event) {
            Reading reading{};
            if (::read(descriptor, &reading, sizeof reading) != sizeof reading) continue;
            enabled += static_cast<double>(reading.enabled);
            running += static_cast<double>(reading.running);
            if (reading.running > 0)
                count.value += static_cast<double>(reading.value) * static_cast<double>(reading.enabled) /
                               static_cast<double>(reading.running);
        }
        count.share_of_time = enabled > 0 ? running / enabled : 0;
        counts.push_back(count);
    }
    return counts;
}

Profile count_events(const std::vector<NamedEvent>& events, const std::vector<TimedPart>& parts, bool programs)
{
    const auto shared = std::make_shared<StepCount>(events, parts, programs);
    return {{[shared](std::size_t part) { shared->enter(part); }, [shared] { shared->leave(); }},
            [shared](const Launch& launch) { shared->trace(launch); },
            [shared](const Launch&) { return shared->remarks(); },
            [shared](const std::filesystem::path& folder, const std::string& id) { shared->write(folder, id); }};
}

Profiler step_counters(const Machine& machine)
{
    return {"cpu",
            [machine](const Device&, const std::vector<TimedPart>& parts) {
                return count_events(events_of(machine), parts);
            },
            [machine](const Device&) { return count_events(events_of(machine), {}, true); }};
}

}  // namespace roof::cpu
