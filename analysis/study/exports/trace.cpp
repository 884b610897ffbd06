#include "analysis/study/exports/export.hpp"

#include "analysis/table/quantities.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace roof::analysis {

using nlohmann::json;

namespace {

enum Track { process_itself, step_track, phase_track, layer_track };

/// Times in whole nanoseconds add up exactly, so slices do not overlap.
long long nanoseconds(double seconds)
{
    return std::llround(std::max(0.0, seconds) * 1e9);
}

json event(const char* kind, Track track, const std::string& name, json arguments)
{
    return {{"ph", kind}, {"name", json_text(name)}, {"pid", 1}, {"tid", track}, {"args", std::move(arguments)}};
}

json slice(Track track, const std::string& name, long long from, long long length, json arguments)
{
    json made = event("X", track, printable(name), std::move(arguments));
    made["ts"] = static_cast<double>(from) / 1000;
    made["dur"] = static_cast<double>(length) / 1000;
    return made;
}

json arguments_of(const Placement& p)
{
    return {{"kind", json_text(p.kind)},
            {"phase", p.phase_name()},
            {"implementation", json_text(p.implementation)},
            {"flops", json_number(p.flops.value)},
            {"time", with_interval(p.seconds, "s")},
            {"bound", json_text(bottleneck_text(p))},
            {"reached", p.binds.empty() ? "-" : share_text(p)}};
}

}  // namespace

json trace_of(const Study& study, const Measurement& row)
{
    const std::array<std::pair<Phase, const Estimate<Seconds>*>, 3> phases{
        {{Phase::forward, &row.forward}, {Phase::backward, &row.backward}, {Phase::update, &row.update}}};
    const std::string id = row.id();
    json events = json::array({event("M", process_itself, "process_name", {{"name", json_text(row.device)}})});
    for (const auto& [track, name] :
         {std::pair{step_track, "step"}, {phase_track, "phases"}, {layer_track, "layers, end to end"}})
        events.push_back(event("M", track, "thread_name", {{"name", name}}));
    long long now = 0;
    for (const auto& [phase, seconds] : phases) {
        const long long begin = now;
        for (const Placement* p : layers_of(study.placements, row)) {
            if (p->phase != phase) continue;
            const long long length = nanoseconds(p->seconds.median.value);
            events.push_back(slice(layer_track, p->name, now, length, arguments_of(*p)));
            now += length;
        }
        now = std::max(now, begin + nanoseconds(seconds->median.value));
        if (now > begin)
            events.push_back(slice(phase_track, std::string(roof::name(phase)), begin, now - begin, json::object()));
    }
    const long long length = std::max(now, nanoseconds(row.seconds.median.value));
    events.push_back(slice(step_track, id, 0, length, {{"time", with_interval(row.seconds, "s")}}));
    return {
        {"traceEvents", std::move(events)},
        {"displayTimeUnit", "ms"},
        {"otherData",
         {{"row", json_text(id)},
          {"note",
           "medians over all launches, laid end to end in the order the layers run; not a recording of one step"}}}};
}

}  // namespace roof::analysis
