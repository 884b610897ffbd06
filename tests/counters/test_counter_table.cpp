// The built-in counter table, and errors in wrong tables. tests/cupti checks the names against CUPTI's own lists.
#include "ert/base/error.hpp"
#include "ert/counters/counter_table.hpp"
#include "tests/counters/quantities.hpp"

#include <catch2/catch.hpp>

using namespace roof;

namespace {

/// Sets every metric of the family to `each`.
std::map<std::string, double> counts(const CounterTable& table, const ChipFamily& family, double each)
{
    std::map<std::string, double> values;
    for (const CounterMetric& metric : table.metrics_of(family, "all")) values[metric.metric] = each;
    return values;
}

constexpr const char* beginning =
    "cupti: 1\nsources: {s: why}\nfamilies:\n"
    "  - {name: a, capabilities: [70], chips: [A], passes: {}}\n"
    "  - {name: b, capabilities: [80], chips: [B], passes: {}}\nmetrics:\n";

}  // namespace

TEST_CASE("a chip is found by its compute capability and by its name")
{
    const CounterTable& table = built_in_counter_table();
    REQUIRE(family_of(table, 90) != nullptr);
    CHECK(family_of(table, 90)->name == "hopper");
    CHECK(table.family_of_chip("GB110")->name == "blackwell_ultra");
    CHECK(table.family_of_chip("TU116")->name == "turing_small");
    CHECK(family_of(table, 75)->name == "turing");
    CHECK(family_of(table, 30) == nullptr);
    CHECK(table.family_of_chip("GK210") == nullptr);
}

TEST_CASE("a multiply-add is two FLOPs, or four with two packed lanes, and a tensor core's FLOPs count once")
{
    const CounterTable& table = built_in_counter_table();
    const ChipFamily& hopper = *family_of(table, 90);
    const auto on_hopper = quantities_of(table, hopper, counts(table, hopper, 100));
    CHECK(on_hopper.at("flops.fp64") == 400);
    CHECK(on_hopper.at("flops.fp32") == 400);
    CHECK(on_hopper.at("flops.fp16") == 800);
    CHECK(on_hopper.at("tensor.bf16") == 100);
    CHECK(on_hopper.at("tensor.fp16") == 100);
    CHECK(on_hopper.at("bytes.device") == 200);
    const ChipFamily& blackwell = *family_of(table, 100);
    CHECK(quantities_of(table, blackwell, counts(table, blackwell, 100)).at("flops.fp32") == 1200);
}

TEST_CASE("the copy engine's bytes count at L1 from Hopper on, and not before")
{
    const CounterTable& table = built_in_counter_table();
    for (const ChipFamily& family : table.families) {
        INFO(family.name);
        const double expected = family.capabilities.front() >= 90 ? 3 : 1;
        CHECK(quantities_of(table, family, counts(table, family, 1)).at("bytes.L1") == expected);
    }
}

TEST_CASE("a quantity with a missing metric is left out, and the others are kept")
{
    const CounterTable& table = built_in_counter_table();
    const ChipFamily& hopper = *family_of(table, 90);
    auto values = counts(table, hopper, 1);
    values.erase("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum");
    const auto quantities = quantities_of(table, hopper, values);
    CHECK_FALSE(quantities.contains("flops.fp32"));
    CHECK(quantities.contains("flops.fp64"));
}

TEST_CASE("integrated chips have no quantity for their DRAM")
{
    const CounterTable& table = built_in_counter_table();
    for (const ChipFamily& family : table.families) {
        INFO(family.name);
        const bool integrated = family.name == "orin" || family.name == "thor" || family.name == "spark";
        CHECK(quantities_of(table, family, counts(table, family, 1)).contains("bytes.device") != integrated);
    }
}

TEST_CASE("the usual metrics are all except the rare ones")
{
    const CounterTable& table = built_in_counter_table();
    const ChipFamily& hopper = *family_of(table, 90);
    std::size_t all = 0;
    for (const char* set : {"traffic", "shared", "scalar", "tensor", "rare"}) {
        CHECK_FALSE(table.metrics_of(hopper, set).empty());
        all += table.metrics_of(hopper, set).size();
    }
    CHECK(table.metrics_of(hopper, "all").size() == all);
    CHECK(table.metrics_of(hopper, "usual").size() == all - table.metrics_of(hopper, "rare").size());
}

TEST_CASE("an error in a table is reported with its line")
{
    const auto [rows, words] = GENERATE(table<const char*, const char*>({
        {"  - {quantity: q, set: s, metric: m, factor: 1}\n", "t.yaml:7: 'source' is missing"},
        {"  - {quantity: q, set: s, metric: m, factor: two, source: s}\n", "t.yaml:7: 'factor' is not of its kind"},
        {"  - {quantity: q, set: s, metric: m, factor: 1, source: x}\n", "no source 'x'"},
        {"  - {quantity: q, set: s, metric: m, factor: 1, source: s, families: [c]}\n", "no family 'c'"},
        {"  - {quantity: q, set: s, metric: m, factor: 1, source: s}\n"
         "  - {quantity: r, set: s, metric: m, factor: 1, source: s, families: [b]}\n",
         "t.yaml:8: 'm' is counted twice on b"},
        {"  - [\n", "t.yaml:"},
    }));
    CHECK_THROWS_WITH(read_counter_table(std::string(beginning) + rows, "t.yaml"), Catch::Contains(words));
    CHECK_THROWS_WITH(read_counter_table("cupti: 1\n", "t.yaml"), Catch::Contains("'sources' is missing"));
    CHECK_NOTHROW(read_counter_table(std::string(beginning) +
                                         "  - {quantity: q, set: s, metric: m, factor: 1, source: s, families: [a]}\n"
                                         "  - {quantity: q, set: s, metric: m, factor: 2, source: s, families: [b]}\n",
                                     "t.yaml"));
}
