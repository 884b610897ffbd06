// The look at a core takes some 35 microseconds: short beside a launch, long beside the reading of a clock.
#include "cpu/noise_monitor.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include <sys/resource.h>

namespace roof::cpu {

namespace {

constexpr std::size_t chain_clocks = 48000;
constexpr std::size_t independent_iterations = 800;  // at 4 to 6 a clock
/// What disturbs a core for some microseconds rarely covers both tries, and can only slow.
constexpr int tries = 2;
/// Clocks before and after that differ by more are no steady clock in between.
constexpr double most_change_of_clock = 0.02;
/// Of the additions that the core does alone.
constexpr double least_share_of_core = 0.985;
constexpr double most_share_of_core = 1.01;

struct Look {
    Hertz clock;
    double additions_per_clock = 0;
};

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

/// `clocks_each`: of an operation of the chain.
Look look(const CoreProbe& chain, int clocks_each, const CoreProbe& independent, const Clock& clock)
{
    const std::size_t iterations = chain_clocks / static_cast<std::size_t>(CoreProbe::operations * clocks_each);
    const double rate = rate_of(chain, iterations, clock) * clocks_each;
    return {Hertz{rate}, rate_of(independent, independent_iterations, clock) / rate};
}

/// Counted by the system for the calling thread.
struct Accidents {
    long switches = 0;  ///< from the processor, not of the thread's own will
    long faults = 0;    ///< pages that were not there
};

Accidents accidents_so_far()
{
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return {usage.ru_nivcsw, usage.ru_minflt + usage.ru_majflt};
}

/// All threads leave together. Spins: a thread that sleeps takes longer to wake than a launch lasts.
void meet(std::atomic<int>& waiting)
{
    waiting.fetch_sub(1, std::memory_order_acq_rel);
    while (waiting.load(std::memory_order_acquire) > 0) __builtin_ia32_pause();
}

/// Of sorted values, the highest around which a quarter of them lie close together; 0 if there is none.
double agreed_value(const std::vector<double>& sorted)
{
    constexpr double close = 1.006;
    const std::size_t quarter = sorted.size() / 4;
    for (std::size_t i = sorted.size() - quarter; i-- > 0;) {
        if (sorted[i + quarter] < sorted[i] * close) return sorted[i + quarter / 2];
    }
    return 0;
}

}  // namespace

CoreHistory::Verdict CoreHistory::judge(int processor, double additions_per_clock)
{
    constexpr std::size_t kept = 128;
    constexpr std::size_t enough = 24;
    constexpr std::size_t every = 8;
    Core& core = cores_[processor];
    if (core.recent.size() < kept)
        core.recent.push_back(additions_per_clock);
    else
        core.recent[core.next] = additions_per_clock;
    core.next = (core.next + 1) % kept;
    if (core.recent.size() >= enough && core.next % every == 0) {
        std::vector<double> sorted = core.recent;
        std::ranges::sort(sorted);
        core.alone = std::max(core.alone, agreed_value(sorted));
    }
    if (core.alone <= 0) return Verdict::unknown;
    if (additions_per_clock < core.alone * least_share_of_core) return Verdict::shared;
    return additions_per_clock > core.alone * most_share_of_core ? Verdict::no_clock : Verdict::undivided;
}

MonitoredTeam::MonitoredTeam(const std::vector<int>& processors, std::shared_ptr<CoreHistory> history)
    : processors_(processors), history_(std::move(history)), team_(processors), steal_(processors)
{
}

struct alignas(64) MonitoredTeam::Witness {
    Look before;
    Look after;
    Seconds begin;
    Seconds end;
    Accidents accidents;              ///< from the first look to the second
    std::string_view disturbed = {};  ///< by what; empty if by nothing

    std::string_view judge(int processor, CoreHistory& history) const;
};

std::string_view MonitoredTeam::Witness::judge(int processor, CoreHistory& history) const
{
    using Verdict = CoreHistory::Verdict;
    const Verdict first = history.judge(processor, before.additions_per_clock);
    const Verdict second = history.judge(processor, after.additions_per_clock);
    const auto either_is = [&](Verdict verdict) { return first == verdict || second == verdict; };
    if (accidents.switches > 0) return "a thread lost its processor";
    if (accidents.faults > 0) return "a page was not there";
    if (either_is(Verdict::shared)) return "a core was shared";
    if (either_is(Verdict::no_clock)) return "the clock could not be told";
    if (either_is(Verdict::unknown)) return "what the core does alone was not known yet";
    if (std::abs(after.clock / before.clock - 1) > most_change_of_clock) return "the clock changed";
    return {};
}

std::vector<MonitoredTeam::Witness> MonitoredTeam::attempt(const std::function<void(int)>& work)
{
    const Clock clock = steady_clock();
    std::vector<Witness> witnesses(processors_.size());
    std::atomic<int> looking = size();
    const int clocks_each = std::max(1, clocks_each_);
    steal_.begin();
    team_.run([&](int thread) {
        Witness& witness = witnesses[thread];
        const Accidents accidents = accidents_so_far();
        witness.before = look(chain_, clocks_each, independent_, clock);
        meet(looking);
        witness.begin = clock();
        work(thread);
        witness.end = clock();
        witness.after = look(chain_, clocks_each, independent_, clock);
        const Accidents later = accidents_so_far();
        witness.accidents = {later.switches - accidents.switches, later.faults - accidents.faults};
    });
    const std::string_view taken = steal_.end();
    for (std::size_t thread = 0; thread < witnesses.size(); ++thread) {
        const std::string_view seen = witnesses[thread].judge(processors_[thread], *history_);
        witnesses[thread].disturbed = taken.empty() ? seen : taken;
    }
    return witnesses;
}

void MonitoredTeam::launch(Trace& trace, const std::function<void(int)>& work, Resources resources)
{
    constexpr int most_attempts = 3;
    const bool apart = resources == Resources::their_own && size() > 1;
    const auto is_disturbed = [](const Witness& witness) { return !witness.disturbed.empty(); };
    std::vector<Witness> witnesses = attempt(work);
    for (int i = 1; apart && i < most_attempts && std::ranges::any_of(witnesses, is_disturbed); ++i) {
        const std::vector<Witness> again = attempt(work);
        for (std::size_t thread = 0; thread < again.size(); ++thread)
            if (is_disturbed(witnesses[thread])) witnesses[thread] = again[thread];
    }

    Seconds begin = witnesses.front().begin;
    Seconds end = witnesses.front().end;
    double rates = 0;  // launches per second, of each thread for itself
    double clocks = 0;
    for (const Witness& witness : witnesses) {
        begin = std::min(begin, witness.begin);
        end = std::max(end, witness.end);
        rates += 1 / (witness.end - witness.begin).value;
        clocks += 0.5 * (witness.before.clock.value + witness.after.clock.value);
        if (is_disturbed(witness)) trace.disturbed(witness.disturbed);
    }
    trace.took(apart ? Seconds{size() / rates} : end - begin);
    trace.ran_at(Hertz{clocks / static_cast<double>(witnesses.size())});
}

}  // namespace roof::cpu
