// The trace of a step contains nothing that Perfetto would drop.
#include "analysis/study/exports/export.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <map>

using namespace roof;
using namespace roof::analysis;

namespace {

/// Converts microseconds of the trace into whole nanoseconds.
long long nanoseconds(const nlohmann::json& value)
{
    return std::llround(value.get<double>() * 1000);
}

}  // namespace

TEST_CASE("slices of a track do not overlap, and layers are within their phase")
{
    const Study study = made::study({made::row()});
    const nlohmann::json trace = trace_of(study, study.results.rows[0]);
    std::map<int, long long> end;
    std::map<int, int> slices;
    for (const nlohmann::json& event : trace["traceEvents"]) {
        if (event["ph"] != "X") continue;
        const int track = event["tid"];
        const long long from = nanoseconds(event["ts"]);
        CHECK(from >= end[track]);
        end[track] = from + nanoseconds(event["dur"]);
        ++slices[track];
    }
    CHECK(slices == std::map<int, int>{{1, 1}, {2, 3}, {3, 4}});
    CHECK(end[1] == 40'000'000);
    CHECK(end[3] <= end[2]);
    CHECK(end[2] <= end[1]);
}

TEST_CASE("the trace is valid, states that its times are medians, and has no control characters")
{
    Measurement row = made::row();
    row.parts[0].part.layer = "a\x1b\"</script>";
    const Study study = made::study({row});
    const nlohmann::json trace = nlohmann::json::parse(trace_of(study, row).dump());
    CHECK_THAT(trace["otherData"]["note"].get<std::string>(), Catch::Contains("medians"));
    CHECK(trace.dump().find("\\u001b") == std::string::npos);
}
