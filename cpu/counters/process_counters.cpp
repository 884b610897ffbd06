#include "cpu/counters/process_counters.hpp"

#include "ert/base/error.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

namespace roof::cpu {

namespace {

std::vector<pid_t> threads()
{
    std::vector<pid_t> ids;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
        ids.push_back(std::stoi(entry.path().filename().string()));
    return ids;
}

struct Reading {
    std::uint64_t value, enabled, running;
};

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

}  // namespace roof::cpu
