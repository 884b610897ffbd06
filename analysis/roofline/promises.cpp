#include "analysis/roofline/promises.hpp"

#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace roof::analysis {

namespace {

bool stands_beside(const Promise& promise, const Ceiling& ceiling)
{
    return promise.kind == name(ceiling.kind) && promise.level == ceiling.level &&
           promise.operation == ceiling.operation && (promise.isa.empty() || promise.isa == ceiling.isa) &&
           (promise.precision.empty() || promise.precision == ceiling.precision);
}

/// A GPU's rates are those of all its multiprocessors; 0 for other devices.
int multiprocessors(const std::string& device, const Machine& machine)
{
    for (const Device& candidate : machine.devices) {
        const auto count = candidate.facts.find("multiprocessors");
        if (candidate.name == device && candidate.kind == "gpu" && count != candidate.facts.end())
            return std::atoi(count->second.c_str());
    }
    return 0;
}

/// Threads take one core after the other, unless they were packed onto the hardware threads of each.
int cores_under(const Ceiling& ceiling, const Machine& machine)
{
    if (const int count = multiprocessors(ceiling.device, machine); count > 0) return count;
    const int per_core = std::max(1, machine.smt);
    if (ceiling.condition.find("siblings") != std::string::npos) return (ceiling.threads + per_core - 1) / per_core;
    return std::clamp(ceiling.threads, 1, std::max(1, machine.cores));
}

/// At which any ceiling of the device was held.
Hertz fastest_clock(const Ceilings& ceilings, const std::string& device)
{
    Hertz fastest;
    for (const Ceiling& ceiling : ceilings.all)
        if (ceiling.device == device) fastest = std::max(fastest, ceiling.clock.median);
    return fastest;
}

}  // namespace

const Promise* promise_of(const Ceiling& ceiling, const Machine& machine)
{
    for (const Device& device : machine.devices) {
        if (device.name != ceiling.device) continue;
        for (const Promise& promise : device.promised)
            if (stands_beside(promise, ceiling)) return &promise;
    }
    return nullptr;
}

double per_clock_and_core(const Ceiling& ceiling, const Machine& machine)
{
    return ceiling.per_clock.median.value * ceiling.threads / cores_under(ceiling, machine);
}

std::optional<double> share_of_promise(const Ceiling& ceiling, const Machine& machine)
{
    const Promise* const promise = promise_of(ceiling, machine);
    const double reached = per_clock_and_core(ceiling, machine);
    if (promise == nullptr || promise->per_clock <= 0 || reached <= 0) return std::nullopt;
    return reached / promise->per_clock;
}

std::vector<std::string> impossible_ceilings(const Ceilings& ceilings, const Machine& machine)
{
    std::vector<std::string> sentences;
    for (const Ceiling& ceiling : ceilings.all) {
        const std::optional<double> share = share_of_promise(ceiling, machine);
        // The clock beside a launch is measured too, and read too low where a stranger holds up its chain: only what lies
        // above with its whole interval, and at the fastest clock seen as well, is impossible.
        const double low_end = ceiling.per_clock.low / ceiling.per_clock.median;
        if (!share || ceiling.per_clock.n < least_samples || *share * low_end <= most_of_promise) continue;
        const Hertz clock = fastest_clock(ceilings, ceiling.device);
        if (clock.value > 0 && *share * (ceiling.clock.median / clock) <= most_of_promise) continue;
        const bool moves = ceiling.kind == Role::bandwidth;
        const Promise& promise = *promise_of(ceiling, machine);
        sentences.push_back(fmt::format(
            "{} is {:.1f}% of what the core can {} per clock ({:.4g} {}, {}): this calibration is wrong; do not use it",
            name_of(ceiling), 100 * *share, moves ? "move" : "compute", promise.per_clock, moves ? "B" : "FLOP",
            promise.source));
    }
    return sentences;
}

std::string name_of(const Ceiling& ceiling)
{
    std::vector<std::string> words;
    const bool computes = ceiling.kind == Role::compute;
    for (const std::string& word :
         {computes ? ceiling.precision : ceiling.level, ceiling.operation, computes ? ceiling.isa : std::string()})
        if (!word.empty()) words.push_back(word);
    return fmt::format("{}, {} thread{}{}", join(words, " "), ceiling.threads, ceiling.threads == 1 ? "" : "s",
                       ceiling.condition.empty() ? "" : ", " + ceiling.condition);
}

}  // namespace roof::analysis
