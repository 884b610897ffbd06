#include "analysis/report/report.hpp"

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

constexpr int process = 1;

/// Times in whole nanoseconds add up exactly, so slices do not overlap.
long long nanoseconds(double seconds)
{
    return std::llround(std::max(0.0, seconds) * 1e9);
}

json microseconds(long long nanosecond)
{
    return static_cast<double>(nanosecond) / 1000;
}

json name_event(const char* what, int track, const std::string& name)
{
    return {{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", track}, {"args", {{"name", json_text(name)}}}};
}

json slice(int track, const std::string& name, long long from, long long length, json arguments)
{
    return {{"ph", "X"},
            {"name", json_text(printable(name))},
            {"pid", process},
            {"tid", track},
            {"ts", microseconds(from)},
            {"dur", microseconds(length)},
            {"args", std::move(arguments)}};
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

enum Track { step_track = 1, phase_track, layer_track };

}  // namespace

json trace_of(const Study& study, const Measurement& row)
{
    const std::array<std::pair<Phase, const Estimate<Seconds>*>, 3> phases{
        {{Phase::forward, &row.forward}, {Phase::backward, &row.backward}, {Phase::update, &row.update}}};
    const std::string id = row.id();
    json events = json::array({name_event("process_name", 0, row.device), name_event("thread_name", step_track, "step"),
                               name_event("thread_name", phase_track, "phases"),
                               name_event("thread_name", layer_track, "layers, end to end")});
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
