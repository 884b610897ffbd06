#include "tools/roof/commands/lasting.hpp"

#include "analysis/roofline/row_roofs.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/level.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace roof {
namespace {

/// A plan's entry of the ceiling's point, "bench device axis=value …". `set`: the working set, in bytes, of a
/// bandwidth.
std::string entry_of(const Ceiling& ceiling, double set)
{
    const std::vector<std::string> words = split(ceiling.point, ' ');
    std::string text = fmt::format("  - {{bench: {}, device: {}", words.at(0), nlohmann::json(words.at(1)).dump());
    for (const std::string& word : words)
        if (const std::size_t equals = word.find('='); equals != std::string::npos)
            text += fmt::format(", {}: {}", word.substr(0, equals),
                                word.starts_with("working_set=") ? fmt::format("{:.0f}", set)
                                                                 : nlohmann::json(word.substr(equals + 1)).dump());
    return text + "}\n";
}

}  // namespace

Plan lasting_plan(const Ceilings& ceilings, const std::vector<std::string>& devices, int threads)
{
    std::map<std::string, double> largest;  // by device
    std::map<std::tuple<std::string, Role, std::string, std::string, int>, const Ceiling*> fastest;
    for (const Ceiling& c : ceilings.all) {
        const bool computes = c.kind == Role::compute && is_multiply_add(c.operation);
        const bool is_memory =
            c.kind == Role::bandwidth && c.level == memory_level && analysis::access_of(c.operation).has_value();
        if (!(computes || is_memory) || !c.condition.empty() || (threads > 0 && c.threads != threads) ||
            std::ranges::find(devices, c.device) == devices.end())
            continue;
        largest[c.device] = std::max(largest[c.device], c.working_set.value);
        const Ceiling*& best = fastest[{c.device, c.kind, c.precision, computes ? "" : c.operation, c.threads}];
        if (best == nullptr || best->rate.median < c.rate.median) best = &c;
    }
    if (fastest.empty())
        throw InputError("--lasting repeats the roofs of a calibration, and this machine has none of " +
                         join(devices, ",") + ": `roof calibrate` first");
    std::string text =
        "name: lasting\ndescription: The roofs of the newest calibration over seconds\n"
        "measure: {warmup: 1, min_samples: 5, max_samples: 20, interval: 0.01, budget_seconds: 0.1, "
        "sustain_seconds: 6}\nrun:\n";
    for (const auto& [key, ceiling] : fastest) text += entry_of(*ceiling, largest[ceiling->device]);
    return parse_plan(text, "calibrate --lasting");
}

}  // namespace roof
