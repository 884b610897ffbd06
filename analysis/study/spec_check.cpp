// Checks ceilings against the spec: a ceiling above the spec of the core was measured wrongly.
#include "analysis/study/ceiling_tables.hpp"
#include "analysis/study/spec_rate.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {

namespace {

/// The highest clock of any ceiling of the device.
Hertz fastest_clock(const Ceilings& ceilings, const std::string& device)
{
    Hertz fastest;
    for (const Ceiling& ceiling : ceilings.all)
        if (ceiling.device == device) fastest = std::max(fastest, ceiling.clock.median);
    return fastest;
}

}  // namespace

std::vector<std::string> impossible_ceilings(const Ceilings& ceilings, const Machine& machine)
{
    std::vector<std::string> sentences;
    for (const Ceiling& ceiling : ceilings.all) {
        const std::optional<double> share = share_of_spec(ceiling, machine);
        // A neighbour can make the measured clock too low. A ceiling is impossible only if its whole interval is above
        // the spec at the fastest measured clock, too.
        const double low_end = ceiling.per_clock.low / ceiling.per_clock.median;
        if (!share || *share * low_end <= max_share_of_spec) continue;
        const Hertz clock = fastest_clock(ceilings, ceiling.device);
        if (clock.value > 0 && *share * (ceiling.clock.median / clock) <= max_share_of_spec) continue;
        const bool moves = ceiling.kind == Role::bandwidth;
        const SpecRate& spec = *spec_rate_of(ceiling, machine);
        sentences.push_back(fmt::format(
            "{} is {:.1f}% of what the core can {} per clock ({:.4g} {}, {}): this calibration is wrong; do not use it",
            name_of(ceiling), 100 * *share, moves ? "move" : "compute", spec.per_clock, moves ? "B" : "FLOP",
            spec.source));
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
