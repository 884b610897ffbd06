// The formulas by which counters are read (analysis, by the metrics' names, whoever recorded them) held against the table by which
// they are asked for: on every chip both make the same of the same values.
#include "analysis/recorded/counted_work.hpp"
#include "ert/counters/counter_table.hpp"

#include <catch2/catch.hpp>

using namespace roof;

namespace {

std::string unit_of(const CounterMetric& metric)
{
    if (metric.quantity == "time") return "s";
    if (metric.quantity.starts_with("bytes")) return "byte";
    return metric.quantity.starts_with("tensor") ? "op" : "inst";
}

}  // namespace

TEST_CASE("what is asked for by the table is read by the analysis with the same factors, on every chip")
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
        auto known = quantities_of(table, family, values);
        const analysis::CountedWork work = analysis::count_work(metrics);
        CHECK(work.bytes.at("L1").value == Approx(known.at("bytes.L1")));
        CHECK(work.bytes.at("L2").value == Approx(known.at("bytes.L2")));
        CHECK(work.bytes.contains("DRAM") == known.contains("bytes.device"));
        if (known.contains("bytes.device")) CHECK(work.bytes.at("DRAM").value == Approx(known.at("bytes.device")));
        for (const char* precision : {"fp64", "fp32", "fp16"}) {
            INFO(precision);
            const double tensor = known[std::string("tensor.") + precision];
            CHECK(work.flops.at(precision).value == Approx(known.at(std::string("flops.") + precision) + tensor));
        }
    }
}
