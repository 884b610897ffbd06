#include "cpu/host_monitor.hpp"

#include "cpu/noise_monitor.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/method/bench/process_limits.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

namespace roof::cpu {
namespace {

long long stolen_so_far(const std::filesystem::path& file, const std::vector<int>& processors)
{
    std::ifstream in = open_if_there(file);
    long long stolen = 0;
    for (std::string line; std::getline(in, line) && line.starts_with("cpu");) {
        int number = 0;
        long long steal = 0;  // after user, nice, system, idle, iowait, irq and softirq
        const int read = std::sscanf(line.c_str(), "cpu%d %*d %*d %*d %*d %*d %*d %*d %lld", &number, &steal);
        const bool is_total = line.starts_with("cpu ");
        if (read == 2 && !is_total && std::ranges::find(processors, number) != processors.end()) stolen += steal;
    }
    return stolen;
}

double own_processor_seconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Processor times are counted in ticks of 10 ms, too coarse for a short launch, which gets what was counted over the
/// last such time.
constexpr Seconds shortest_window{0.25};

/// With more processor time several threads worked, and may share the core with each other.
constexpr double most_of_one_thread = 1.2;

class Monitor : public HostMonitor {
  public:
    explicit Monitor(std::shared_ptr<CoreHistory> history) : history_(std::move(history))
    {
        try {
            reader_.emplace(clock_);
        } catch (const Unsupported&) {  // no generated code may run here: whether the core is shared stays unknown
            return;
        }
        constexpr int to_know_the_core = 24;
        for (int i = 0; i < to_know_the_core; ++i) read_core();
    }

    void begin() override
    {
        first_ = read_core();
        before_ = host_counts(files_, own_processor_seconds());
        begin_ = clock_();
        if (window_begin_.value > 0) return;
        window_ = before_;
        window_begin_ = begin_;
    }

    HostUse end() override
    {
        const Seconds now = clock_();
        const HostCounts after = host_counts(files_, own_processor_seconds());
        HostUse use = use_between(before_, after, (now - begin_).value);
        if (now - window_begin_ >= shortest_window) {
            latest_ = use_between(window_, after, (now - window_begin_).value);
            window_ = after;
            window_begin_ = now;
        }
        use.others = latest_.others;
        use.stolen = latest_.stolen;
        if (after.own - before_.own > most_of_one_thread * (now - begin_).value) return use;
        using Verdict = CoreHistory::Verdict;
        const std::array verdicts{first_, read_core()};
        const auto is = [&](Verdict verdict) { return static_cast<double>(std::ranges::count(verdicts, verdict)); };
        const double known = is(Verdict::shared) + is(Verdict::undivided);
        if (known > 0) use.shared = is(Verdict::shared) / known;
        return use;
    }

  private:
    CoreHistory::Verdict read_core()
    {
        if (!reader_) return CoreHistory::Verdict::unknown;
        return history_->judge(sched_getcpu(), reader_->read().additions_per_clock);
    }

    std::shared_ptr<CoreHistory> history_;
    HostFiles files_;
    Clock clock_ = steady_clock();
    std::optional<CoreReader> reader_{};
    CoreHistory::Verdict first_ = CoreHistory::Verdict::unknown;
    HostCounts before_;
    Seconds begin_;
    HostCounts window_;
    Seconds window_begin_;
    HostUse latest_;
};

}  // namespace

StealFiles steal_files()
{
    StealFiles files;
    for (const char* controller : {"", "cpu"})
        for (const std::filesystem::path& folder : control_groups(controller))
            if (std::filesystem::exists(folder / "cpu.stat")) files.groups.push_back(folder / "cpu.stat");
    return files;
}

StealTime steal_so_far(const StealFiles& files, const std::vector<int>& processors)
{
    StealTime taken;
    if (!processors.empty()) taken.stolen = stolen_so_far(files.processors, processors);
    for (const std::filesystem::path& group : files.groups)
        taken.throttled += std::llround(number_after(group, "nr_throttled").value_or(0));
    return taken;
}

std::string_view disturbance_between(const StealTime& before, const StealTime& after)
{
    if (after.throttled > before.throttled) return "throttled by the control group's limit";
    if (after.stolen > before.stolen) return "processor time was stolen by the host";
    return {};
}

StealMonitor::StealMonitor(std::vector<int> processors, StealFiles files)
    : processors_(std::move(processors)), files_(std::move(files))
{
    before_ = steal_so_far(files_, processors_);
    if (before_.stolen == 0) processors_.clear();
}

HostCounts host_counts(const HostFiles& files, double own_seconds)
{
    HostCounts counts;
    counts.own = own_seconds;
    const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    // After the word "cpu": user, nice, system, idle, iowait, irq, softirq, steal.
    std::ifstream processors = open_if_there(files.processors);
    std::string word;
    std::array<double, 8> times{};
    if (processors >> word && word == "cpu") {
        for (double& time : times) processors >> time;
        if (processors) {
            counts.busy = (times[0] + times[1] + times[2] + times[5] + times[6]) / ticks;
            counts.stolen = times[7] / ticks;
        }
    }
    std::error_code none;
    for (const auto& thread : std::filesystem::directory_iterator(files.threads, none)) {
        std::ifstream schedule = open_if_there(thread.path() / "schedstat");
        double ran = 0;
        double waited = 0;  // nanoseconds
        if (schedule >> ran >> waited) counts.waited[std::stol(thread.path().filename())] = 1e-9 * waited;
    }
    return counts;
}

HostUse use_between(const HostCounts& before, const HostCounts& after, double elapsed)
{
    HostUse use;
    if (elapsed <= 0) return use;
    const auto per_second = [&](double from, double to) { return std::max(0.0, to - from) / elapsed; };
    if (before.busy && after.busy)
        use.others = std::max(0.0, per_second(*before.busy, *after.busy) - per_second(before.own, after.own));
    if (before.stolen && after.stolen) use.stolen = per_second(*before.stolen, *after.stolen);
    for (const auto& [thread, waited] : after.waited)
        if (const auto earlier = before.waited.find(thread); earlier != before.waited.end())
            use.waited = std::max(use.waited.value_or(0), std::min(1.0, per_second(earlier->second, waited)));
    return use;
}

std::unique_ptr<HostMonitor> host_monitor(std::shared_ptr<CoreHistory> history)
{
    return std::make_unique<Monitor>(std::move(history));
}

}  // namespace roof::cpu
