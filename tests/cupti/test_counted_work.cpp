// Counters are requested and read by one table, and the analysis knows the metrics only by name. On every chip it must
// give the results that the table defines.
#include "analysis/recordings/counted_work.hpp"
#include "ert/counters/counter_table.hpp"
#include "tests/counters/quantities.hpp"

#include <catch2/catch.hpp>

using namespace roof;

namespace {

std::string unit_of(const CounterMetric& metric)
{
    if (metric.quantity == "time") return "s";
    if (metric.metric.find("_sectors_") != std::string::npos) return "sector";
    if (metric.quantity.starts_with("bytes")) return "byte";
    return metric.quantity.starts_with("tensor") ? "op" : "inst";
}

}  // namespace

TEST_CASE("the analysis reads the metrics of the table with the same factors, on every chip")
{
    const CounterTable& table = built_in_counter_table();
    for (const ChipFamily& family : table.families) {
        INFO(family.name);
        std::map<std::string, double> values;
        analysis::Metrics metrics;
        double next = 1;
        for (const CounterMetric& metric : table.metrics_of(family, "all")) {
            next *= 1.7;  // no two sums alike
            values[metric.metric] = next;
            metrics[metric.metric] = {next, unit_of(metric)};
        }
        const auto known = quantities_of(table, family, values);
        const analysis::CountedWork work = analysis::count_work(metrics);
        CHECK(work.bytes.at("L1").value == Approx(known.at("bytes.L1")));
        CHECK(work.bytes.at("L2").value == Approx(known.at("bytes.L2")));
        CHECK(work.bytes.at("shared").value == Approx(known.at("bytes.shared")));
        CHECK(work.bytes.contains("DRAM") == known.contains("bytes.device"));
        if (known.contains("bytes.device")) CHECK(work.bytes.at("DRAM").value == Approx(known.at("bytes.device")));
        std::map<std::string, double> flops;
        for (const auto& [quantity, value] : known)
            for (const std::string_view kind : {"flops.", "tensor."})
                if (quantity.starts_with(kind) && quantity != "tensor.int8")
                    flops[quantity.substr(kind.size())] += value;
        CHECK(work.flops.size() == flops.size());
        for (const auto& [precision, value] : flops) {
            INFO(precision);
            CHECK(work.flops.at(precision).value == Approx(value));
        }
    }
}
