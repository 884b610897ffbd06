// Reading a core takes about 35 microseconds: short compared with a launch, long compared with a clock reading.
#include "cpu/noise_monitor.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include <sys/resource.h>

namespace roof::cpu {
namespace {

constexpr std::size_t chain_clocks = 48000;
constexpr std::size_t independent_iterations = 800;  // at 4 to 6 per clock
/// A short disturbance rarely covers both tries, and it can only slow them.
constexpr int tries = 2;
/// A larger change between the readings means that the clock was not constant during the launch.
constexpr double most_change_of_clock = 0.02;
/// The rate of an unshared core, as a share of its known rate, lies between these.
constexpr double least_share_of_core = 0.985;
constexpr double most_share_of_core = 1.01;
/// Fewer readings of a core do not tell its rate.
constexpr std::size_t enough_readings = 24;

constexpr std::string_view clock_not_told = "the clock could not be told";
constexpr std::string_view clock_changed = "the clock changed";

/// Operations per second of the faster try.
double rate_of(const CoreProbe& probe, std::size_t iterations, const Clock& clock)
{
    double rate = 0;
    for (int i = 0; i < tries; ++i) {
        const Seconds begin = clock();
        probe.run(iterations);
        rate = std::max(rate, CoreProbe::operations * static_cast<double>(iterations) / (clock() - begin).value);
    }
    return rate;
}

struct ThreadEvents {
    long switches = 0;  ///< involuntary context switches
    long faults = 0;    ///< page faults
};

ThreadEvents events_so_far()
{
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return {usage.ru_nivcsw, usage.ru_minflt + usage.ru_majflt};
}

/// Additions per clock of each processor, `count` readings, of all at the same time.
std::vector<std::vector<double>> read_cores(const std::vector<int>& processors, std::size_t count)
{
    const CoreReader reader(steady_clock());
    std::vector<std::vector<double>> readings(processors.size(), std::vector<double>(count));
    PinnedTeam(processors).run([&](int thread) {
        for (double& reading : readings[thread]) reading = reader.read().additions_per_clock;
    });
    return readings;
}

/// A barrier that spins, because waking a sleeping thread takes longer than a launch.
void wait_for_all(std::atomic<int>& waiting)
{
    waiting.fetch_sub(1, std::memory_order_acq_rel);
    while (waiting.load(std::memory_order_acquire) > 0) __builtin_ia32_pause();
}

/// The highest sorted value with a quarter of all values close to it; 0 if there is none.
double agreed_value(const std::vector<double>& sorted)
{
    constexpr double close = 1.006;
    const std::size_t quarter = sorted.size() / 4;
    for (std::size_t i = sorted.size() - quarter; i-- > 0;)
        if (sorted[i + quarter] < sorted[i] * close) return sorted[i + quarter / 2];
    return 0;
}

}  // namespace

Hertz CoreReader::clock_rate() const
{
    const int clocks_each = std::max(1, multiplication_);
    const std::size_t iterations = chain_clocks / static_cast<std::size_t>(CoreProbe::operations * clocks_each);
    return {rate_of(chain_, iterations, clock_) * clocks_each};
}

CoreReading CoreReader::read() const
{
    const Hertz clock = clock_rate();
    return {clock, rate_of(independent_, independent_iterations, clock_) / clock.value};
}

CoreHistory::CoreHistory(AlikeCores alike) : alike_(std::move(alike)) {}

double& CoreHistory::alone(int processor)
{
    const bool is_alike = std::ranges::count(alike_.processors, processor) > 0;
    return alone_[is_alike ? alike_.processors.front() : processor];
}

CoreHistory::Verdict CoreHistory::judge(int processor, double additions_per_clock)
{
    constexpr std::size_t kept = 128;
    constexpr std::size_t every = 8;
    Core& core = cores_[processor];
    if (core.recent.size() < kept)
        core.recent.push_back(additions_per_clock);
    else
        core.recent[core.next] = additions_per_clock;
    core.next = (core.next + 1) % kept;
    double& alone = this->alone(processor);
    if (core.recent.size() >= enough_readings && core.next % every == 0) {
        std::vector<double> sorted = core.recent;
        std::ranges::sort(sorted);
        alone = std::max(alone, agreed_value(sorted));
    }
    if (alone <= 0) return Verdict::unknown;
    if (additions_per_clock < alone * least_share_of_core) return Verdict::shared;
    return additions_per_clock > alone * most_share_of_core ? Verdict::no_clock : Verdict::undivided;
}

double CoreHistory::share_undivided(int processor)
{
    const std::vector<double>& recent = cores_[processor].recent;
    const double least = alone(processor) * least_share_of_core;
    const auto undivided = std::ranges::count_if(recent, [&](double reading) { return reading >= least; });
    return recent.empty() ? 0 : static_cast<double>(undivided) / static_cast<double>(recent.size());
}

int CoreHistory::quietest(int otherwise)
{
    if (alike_.near.empty()) return otherwise;
    const auto is_new = [&](int processor) { return cores_[processor].recent.size() < enough_readings; };
    if (std::ranges::any_of(alike_.near, is_new)) {
        const auto readings = read_cores(alike_.near, enough_readings);
        for (std::size_t i = 0; i < readings.size(); ++i)
            for (const double reading : readings[i]) judge(alike_.near[i], reading);
    }
    return *std::ranges::max_element(alike_.near, {}, [&](int processor) { return share_undivided(processor); });
}

MonitoredTeam::MonitoredTeam(const std::vector<int>& processors, std::shared_ptr<CoreHistory> history)
    : processors_(processors), history_(std::move(history)), team_(processors), steal_(processors)
{
}

struct alignas(64) MonitoredTeam::ThreadRecord {
    CoreReading before;
    CoreReading after;
    Seconds begin;
    Seconds end;
    ThreadEvents events;              ///< between the two readings
    std::string_view disturbed = {};  ///< the reason; empty if undisturbed

    std::string_view judge(int processor, CoreHistory& history) const;
};

std::string_view MonitoredTeam::ThreadRecord::judge(int processor, CoreHistory& history) const
{
    using Verdict = CoreHistory::Verdict;
    const Verdict first = history.judge(processor, before.additions_per_clock);
    const Verdict second = history.judge(processor, after.additions_per_clock);
    const auto either_is = [&](Verdict verdict) { return first == verdict || second == verdict; };
    if (events.switches > 0) return "a thread lost its processor";
    if (events.faults > 0) return "a page was not there";
    if (either_is(Verdict::shared)) return "a core was shared";
    if (either_is(Verdict::no_clock)) return clock_not_told;
    if (either_is(Verdict::unknown)) return "what the core does alone was not known yet";
    if (std::abs(after.clock / before.clock - 1) > most_change_of_clock) return clock_changed;
    return {};
}

Hertz MonitoredTeam::read_clock() const
{
    std::vector<double> rates(processors_.size());
    team_.run([&](int thread) { rates[thread] = reader_.clock_rate().value; });
    return {std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size())};
}

void MonitoredTeam::wait_for_clock(Hertz clock) const
{
    constexpr Seconds longest{0.1};
    const Seconds begin = clock_();
    while (read_clock() < clock * (1 - most_change_of_clock) && clock_() - begin < longest) {
    }
}

std::vector<MonitoredTeam::ThreadRecord> MonitoredTeam::attempt(const std::function<void(int)>& work)
{
    std::vector<ThreadRecord> records(processors_.size());
    std::atomic<int> reading = size();
    steal_.begin();
    team_.run([&](int thread) {
        ThreadRecord& record = records[thread];
        const ThreadEvents events = events_so_far();
        record.before = reader_.read();
        wait_for_all(reading);
        record.begin = clock_();
        work(thread);
        record.end = clock_();
        record.after = reader_.read();
        const ThreadEvents later = events_so_far();
        record.events = {later.switches - events.switches, later.faults - events.faults};
    });
    const std::string_view stolen = steal_.end();
    for (std::size_t thread = 0; thread < records.size(); ++thread) {
        const std::string_view seen = records[thread].judge(processors_[thread], *history_);
        records[thread].disturbed = stolen.empty() ? seen : stolen;
    }
    return records;
}

void MonitoredTeam::launch(Trace& trace, const std::function<void(int)>& work, Resources resources)
{
    constexpr int most_attempts = 3;
    const bool apart = resources == Resources::their_own && size() > 1;
    const auto is_disturbed = [](const ThreadRecord& record) { return !record.disturbed.empty(); };
    std::vector<ThreadRecord> records = attempt([&](int thread) {
        for (int i = 0; i < trace.repeats(); ++i) {
            work(thread);
            if (thread == 0 && trace.beside()) trace.beside()();
        }
    });
    const int most = apart && trace.repeats() == 1 ? most_attempts : 1;
    for (int i = 1; i < most && std::ranges::any_of(records, is_disturbed); ++i) {
        const std::vector<ThreadRecord> again = attempt(work);
        for (std::size_t thread = 0; thread < again.size(); ++thread)
            if (is_disturbed(records[thread])) records[thread] = again[thread];
    }

    Seconds begin = records.front().begin;
    Seconds end = records.front().end;
    double rates = 0;  // launches per second, summed over threads
    double clocks = 0;
    int known = 0;
    for (const ThreadRecord& record : records) {
        begin = std::min(begin, record.begin);
        end = std::max(end, record.end);
        rates += 1 / (record.end - record.begin).value;
        if (record.disturbed != clock_not_told && record.disturbed != clock_changed) {
            clocks += 0.5 * (record.before.clock.value + record.after.clock.value);
            ++known;
        }
        if (is_disturbed(record)) trace.disturbed(record.disturbed);
    }
    trace.took(apart ? Seconds{size() / rates} : end - begin, trace.repeats());
    // A clock that is not known would give more per clock than the core can do.
    if (known > 0) trace.ran_at(Hertz{clocks / known});
}

}  // namespace roof::cpu
