#include "tests/method/simulated_candidates.hpp"

#include <algorithm>
#include <cmath>

namespace roof::test {
namespace {

std::vector<double> alike(const SimulatedMachine& machine, double factor)
{
    return std::vector<double>(machine.seconds.size(), factor);
}

/// Slows all candidates alike, in stretches whose mean length is drawn.
void add_bursts(SimulatedMachine& on, double shortest, double longest, double least_duty, double most_duty,
                double least_factor = 1.2, double most_factor = 3)
{
    on.slowdowns.push_back({.duty = on.between(least_duty, most_duty),
                            .mean_length = on.evenly_in_log(shortest, longest),
                            .factors = alike(on, on.between(least_factor, most_factor))});
}

/// Slows each candidate by a factor of its own.
void add_own_factors(SimulatedMachine& on, double shortest, double longest, double most_duty)
{
    Slowdown one{.duty = on.between(0, most_duty), .mean_length = on.evenly_in_log(shortest, longest), .factors = {}};
    for (std::size_t i = 0; i < on.seconds.size(); ++i) one.factors.push_back(on.between(1.1, 1.9));
    on.slowdowns.push_back(one);
}

constexpr double stands_still = 1e6;

}  // namespace

double SimulatedMachine::between(double low, double high)
{
    return std::uniform_real_distribution<double>(low, high)(random);
}

double SimulatedMachine::evenly_in_log(double low, double high)
{
    return std::exp(between(std::log(low), std::log(high)));
}

void SimulatedMachine::draw_length(Slowdown& one)
{
    const double mean = one.is_slow ? one.mean_length : one.mean_length * (1 - one.duty) / one.duty;
    if (one.shape < 0)
        one.until += mean;
    else if (one.shape > 0)
        one.until += mean * (one.shape - 1) / one.shape * std::pow(1 - between(0, 1), -1 / one.shape);
    else
        one.until += std::exponential_distribution<double>(1 / mean)(random);
}

double SimulatedMachine::slowness(std::size_t candidate) const
{
    double slower = clock_ * (1 + drift * std::min(now, 1.0));
    for (const Slowdown& one : slowdowns)
        if (one.is_slow) slower *= one.factors[candidate];
    if (now < boost_end) slower /= boost;
    return now < slow_until_ ? slower * 1.15 : slower;
}

double SimulatedMachine::run(std::size_t candidate)
{
    has_run_.resize(seconds.size());
    const double begin = now;
    double left = seconds[candidate] * std::exp(std::abs(std::normal_distribution<double>(0, jitter)(random)));
    if (!has_run_[candidate]) left *= first_run;
    has_run_[candidate] = true;
    for (bool is_done = false; !is_done;) {
        for (Slowdown& one : slowdowns) {
            while (one.duty > 0 && one.until <= now) {
                one.is_slow = !one.is_slow;
                draw_length(one);
            }
        }
        if (clock_step > 0 && clock_until_ <= now) {
            clock_ = 1 + 0.03 * std::floor(between(0, 6));
            clock_until_ = now + std::exponential_distribution<double>(1 / clock_step)(random);
        }
        const double slower = slowness(candidate);
        double next = now + left * slower;
        const double end = next;
        for (const Slowdown& one : slowdowns)
            if (one.duty > 0) next = std::min(next, one.until);
        if (clock_step > 0) next = std::min(next, clock_until_);
        for (const double change : {boost_end, slow_until_})
            if (now < change) next = std::min(next, change);
        is_done = next >= end;
        left -= (next - now) / slower;
        now = next;
    }
    if (!is_wide.empty() && is_wide[candidate]) slow_until_ = now + 2e-3;
    return now - begin;
}

void SimulatedMachine::pause(double length)
{
    now += length;
    for (Slowdown& one : slowdowns) {
        if (one.duty == 0) continue;
        one.is_slow = between(0, 1) < one.duty;
        one.until = now;
        draw_length(one);
    }
    clock_until_ = now;
}

std::vector<double> SimulatedMachine::true_seconds() const
{
    std::vector<double> all = seconds;
    for (const Slowdown& one : slowdowns) {
        if (one.duty == 0) continue;
        const double undisturbed = one.mean_length * (1 - one.duty) / one.duty;
        for (std::size_t i = 0; i < all.size(); ++i)
            if ((1 - one.duty) * std::exp(-seconds[i] / undisturbed) < 0.1)
                all[i] /= one.duty / one.factors[i] + 1 - one.duty;
    }
    return all;
}

SimulatedMachine draw(const Kind& kind, std::uint64_t seed)
{
    SimulatedMachine machine;
    machine.random.seed(seed);
    const auto candidates = static_cast<std::size_t>(machine.between(2, 13));
    const double fastest = machine.evenly_in_log(50e-6, 20e-3);
    machine.seconds = {fastest};
    while (machine.seconds.size() < candidates)
        machine.seconds.push_back(fastest * (1 + machine.evenly_in_log(0.005, 2)));
    std::ranges::shuffle(machine.seconds, machine.random);
    kind.disturb(machine);
    machine.pause(0);
    return machine;
}

const std::vector<Kind>& design_kinds()
{
    using M = SimulatedMachine;
    static const std::vector<Kind> kinds{
        {"quiet, jitter 0.1% to 1%", [](M& m) { m.jitter = m.evenly_in_log(0.001, 0.01); }},
        {"bursts of 0.1 to 1 ms, less than half of the time", [](M& m) { add_bursts(m, 1e-4, 1e-3, 0, 0.5); }},
        {"bursts of 0.1 to 1 ms, 50% to 90%", [](M& m) { add_bursts(m, 1e-4, 1e-3, 0.5, 0.9); }},
        {"bursts of 1 to 30 ms, less than half of the time", [](M& m) { add_bursts(m, 1e-3, 30e-3, 0, 0.5); }},
        {"bursts of 1 to 30 ms, 50% to 90%", [](M& m) { add_bursts(m, 1e-3, 30e-3, 0.5, 0.9); }},
        {"bursts of 30 ms to 1 s, less than half of the time", [](M& m) { add_bursts(m, 30e-3, 1, 0, 0.5); }},
        {"bursts of 30 ms to 1 s, 50% to 90%", [](M& m) { add_bursts(m, 30e-3, 1, 0.5, 0.9); }},
        {"bursts of 1 to 30 s, to 90%", [](M& m) { add_bursts(m, 1, 30, 0, 0.9); }},
        {"two rates", [](M& m) { add_bursts(m, 1e-3, 10, 0.2, 0.8, 1.05, 1.6); }},
        {"clock steps", [](M& m) { m.clock_step = m.evenly_in_log(1e-3, 1); }},
        {"steal, to 60%", [](M& m) { add_bursts(m, 5e-4, 20e-3, 0, 0.6, stands_still, stands_still); }},
        {"a neighbour slows each candidate differently, to 80%", [](M& m) { add_own_factors(m, 1e-4, 0.2, 0.8); }},
        {"two neighbours, each to 70%",
         [](M& m) {
             add_bursts(m, 1e-4, 1e-2, 0, 0.7);
             add_bursts(m, 1e-2, 3, 0, 0.7);
         }},
        {"the clock falls by 30% within a second",
         [](M& m) {
             m.drift = 0.3;
             m.jitter = 0.01;
         }},
        {"the clock is 30% higher for the first 1 to 300 ms",
         [](M& m) {
             m.boost = 1.3;
             m.boost_end = m.evenly_in_log(1e-3, 0.3);
         }},
        {"some candidates lower the clock for the next", [](M& m) {
             for (std::size_t i = 0; i < m.seconds.size(); ++i) m.is_wide.push_back(m.between(0, 1) < 0.5);
         }}};
    return kinds;
}

const std::vector<Kind>& judging_kinds()
{
    using M = SimulatedMachine;
    static const std::vector<Kind> kinds{
        {"bursts of heavy-tailed length, to 60%",
         [](M& m) {
             add_bursts(m, 3e-4, 3e-2, 0, 0.6);
             m.slowdowns.back().shape = 1.5;
         }},
        {"bursts of the same length at the same distance, to 75%",
         [](M& m) {
             add_bursts(m, 1e-4, 1, 0, 0.75);
             m.slowdowns.back().shape = -1;
         }},
        {"clock steps and a neighbour, to 50%",
         [](M& m) {
             m.clock_step = m.evenly_in_log(1e-3, 1);
             add_bursts(m, 1e-4, 30, 0, 0.5);
         }},
        {"two rates and steal, to 30%",
         [](M& m) {
             add_bursts(m, 1e-2, 10, 0.2, 0.8, 1.05, 1.6);
             add_bursts(m, 1e-3, 10e-3, 0, 0.3, stands_still, stands_still);
         }},
        {"bursts of 0.1 ms to 30 s, to 90%", [](M& m) { add_bursts(m, 1e-4, 30, 0, 0.9, 1.1, 2); }},
        {"interrupts of 20 to 200 us, to 10%, and slow first runs",
         [](M& m) {
             add_bursts(m, 20e-6, 200e-6, 0, 0.1, stands_still, stands_still);
             m.first_run = m.between(1, 5);
         }},
        {"a neighbour slows each candidate differently, to 40%", [](M& m) { add_own_factors(m, 1e-3, 1, 0.4); }}};
    return kinds;
}

}  // namespace roof::test
