#include "analysis/study/breakdown.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace roof::analysis {

namespace {

constexpr std::array<std::string_view, 12> kinds{"convolution", "linear",       "batch_norm", "relu",
                                                 "max_pool",    "average_pool", "add",        "flatten",
                                                 "dropout",     "loss",         "update",     "other"};

std::vector<Segment> with_rest(std::vector<Segment> segments, double step)
{
    double sum = 0;
    for (const Segment& segment : segments) sum += segment.seconds;
    if (sum <= 0) return {};
    if (sum < step)
        segments.push_back({.name = std::string(not_accounted_for), .seconds = step - sum, .is_rest = true});
    return segments;
}

}  // namespace

std::span<const std::string_view> kinds_in_order()
{
    return kinds;
}

std::vector<Segment> phases_of(const Measurement& row)
{
    return with_rest({{"forward", row.forward.median.value, true},
                      {"backward", row.backward.median.value, true},
                      {"update", row.update.median.value, true}},
                     row.seconds.median.value);
}

std::vector<Segment> kinds_of(const Measurement& row)
{
    std::map<std::string_view, double> seconds;
    for (const PartMeasurement& part : row.parts) {
        const auto known = std::ranges::find(kinds, part.part.kind);
        const bool is_update = part.part.phase == Phase::update;
        seconds[is_update ? "update" : known != kinds.end() ? *known : "other"] += part.seconds.median.value;
    }
    std::vector<Segment> segments;
    for (const std::string_view kind : kinds)
        if (seconds.contains(kind)) segments.push_back({std::string(kind), seconds[kind]});
    return with_rest(std::move(segments), row.seconds.median.value);
}

}  // namespace roof::analysis
