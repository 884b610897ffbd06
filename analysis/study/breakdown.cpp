#include "analysis/study/verdict.hpp"

#include <algorithm>
#include <map>

namespace roof::analysis {

namespace {

std::vector<Segment> with_rest(std::vector<Segment> segments, double step)
{
    constexpr double rounding = 1e-9;
    double sum = 0;
    for (const Segment& segment : segments) sum += segment.seconds;
    if (sum <= 0) return {};
    if (step - sum > rounding * step) segments.push_back({.name = std::string(outside_layers), .seconds = step - sum});
    return segments;
}

}  // namespace

std::vector<Segment> phases_of(const Measurement& row)
{
    return with_rest({{.name = "forward", .seconds = row.forward.median.value, .is_phase = true},
                      {.name = "backward", .seconds = row.backward.median.value, .is_phase = true},
                      {.name = "update", .seconds = row.update.median.value, .is_phase = true}},
                     row.seconds.median.value);
}

std::vector<Segment> kinds_of(const Measurement& row)
{
    std::map<std::string_view, Segment> by_kind;
    for (const PartMeasurement& part : row.parts) {
        const auto known = std::ranges::find(kinds_in_order, part.part.kind);
        const Phase phase = part.part.phase;
        const double seconds = part.seconds.median.value;
        Segment& kind = by_kind[phase == Phase::update ? "update" : known != kinds_in_order.end() ? *known : "other"];
        kind.seconds += seconds;
        if (phase == Phase::forward) kind.forward += seconds;
        if (phase == Phase::backward) kind.backward += seconds;
    }
    std::vector<Segment> segments;
    for (const std::string_view kind : kinds_in_order) {
        if (!by_kind.contains(kind)) continue;
        segments.push_back(by_kind[kind]);
        segments.back().name = kind;
    }
    return with_rest(std::move(segments), row.seconds.median.value);
}

}  // namespace roof::analysis
