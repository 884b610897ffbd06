// Ceilings beside their spec, and the tables that show both.
#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "analysis/table/fitted_text.hpp"
#include "ert/base/text.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace roof;
using namespace roof::analysis;

namespace {

/// The synthetic machine, with 64 FLOPs and 128 bytes per clock and core by its guide.
Machine machine_with_spec()
{
    Machine machine = made::machine();
    machine.devices[0].spec_rates = {{"compute", "core", "fma", "avx2", "fp32", 64, "Made, Guide 1"},
                                     {"bandwidth", "L1", "load", "", "", 128, "Made, Guide 1"}};
    return machine;
}

Ceiling at_clock(Ceiling ceiling, double per_clock_and_thread, double clock = 1e9)
{
    ceiling.clock = made::about<Hertz>(clock);
    ceiling.rate = made::about<Hertz>(per_clock_and_thread * clock * ceiling.threads);
    ceiling.per_clock = {{per_clock_and_thread}, {0.99 * per_clock_and_thread}, {1.01 * per_clock_and_thread}, 9, 0};
    return ceiling;
}

Ceiling load(double per_clock_and_thread, int threads = 1)
{
    return at_clock(made::bandwidth("L1", threads, 1), per_clock_and_thread);
}

Ceilings only(std::vector<Ceiling> all)
{
    Ceilings ceilings;
    ceilings.all = std::move(all);
    return ceilings;
}

/// The cell in this column; null if people see no such column.
const std::string* cell(const DataTable& table, std::size_t row, const std::string& column)
{
    const auto found = std::ranges::find(table.columns, column, &TableColumn::title);
    if (found == table.columns.end()) return nullptr;
    return &table.rows[row].cells[static_cast<std::size_t>(found - table.columns.begin())].text;
}

DataTable only_table(const Ceilings& ceilings, const Machine& machine)
{
    const std::vector<DataTable> tables = ceiling_tables(ceilings, machine);
    REQUIRE(tables.size() == 1);
    return tables.front();
}

Ceiling latency(const std::string& level, double seconds)
{
    Ceiling c = made::bandwidth(level, 1, 1 / seconds);
    c.kind = Role::latency;
    c.operation = "latency";
    c.working_set = {32768};
    c.clock = made::about<Hertz>(4e9);
    return c;
}

}  // namespace

TEST_CASE("a ceiling whose whole interval is more than half a percent above the spec has a mark and its reasons")
{
    const Machine machine = machine_with_spec();
    CHECK(above_spec(only({load(128 * 1.014)}), machine).empty());
    CHECK(above_spec(only({load(128 * 1.016)}), machine).size() == 1);
    CHECK(above_spec(only({load(500)}), made::machine()).empty());
    CHECK(above_spec(only({load(133.12)}), machine) == std::vector<std::string>{"L1 load, 1 thread"});
    CHECK_THAT(ceilings_text(only({load(133.12)}), machine),
               Catch::Contains("104.0%*") && Catch::Contains("* Above it: the clock was read too low"));
    CHECK_THAT(ceilings_text(only({load(128)}), machine), Catch::Contains("100.0%") && !Catch::Contains("*"));
}

TEST_CASE("a table has clock, rate per clock, share of the spec and the variant that the search found")
{
    Ceiling ceiling = load(127.04);
    ceiling.variant = "avx512, 16 per iteration";
    const DataTable table = only_table(only({ceiling}), machine_with_spec());
    CHECK(table.title == "Bandwidth, 1 thread (measured)");
    CHECK(*cell(table, 0, "GHz") == "1.00");
    CHECK(*cell(table, 0, "B/clock") == "127.0");
    CHECK(*cell(table, 0, "of spec") == "99.2%");
    CHECK(*cell(table, 0, "found by search") == "avx512, 16 per iteration");
    CHECK(spec_footnote(only({ceiling}), machine_with_spec()).find("Made, Guide 1") != std::string::npos);
}

TEST_CASE(
    "in a narrow window the tables leave out the search result and the rate per clock, never the rate, and lines are "
    "broken")
{
    Ceiling ceiling = load(127.04);
    ceiling.variant = "avx512, 16 accesses per iteration, 4 streams, prefetched 8 lines ahead";
    Machine machine = machine_with_spec();
    machine.inconsistencies = {
        "a inconsistency of very many words that no window of so few columns could ever hold in one single line"};
    const std::string wide = ceilings_text(only({ceiling}), machine);
    CHECK_THAT(wide, Catch::Contains(ceiling.variant) && Catch::Contains(machine.inconsistencies.front()));
    const std::string narrow = ceilings_text(only({ceiling}), machine, 72);
    for (const std::string& line : split(narrow, '\n')) CHECK(display_columns(line) <= 72);
    CHECK_THAT(narrow, Catch::Contains("bandwidth [95%]") && Catch::Contains("of spec") &&
                           !Catch::Contains("found by search") && Catch::Contains("GHz"));
    CHECK_THAT(ceilings_text(only({ceiling}), machine, 48),
               Catch::Contains("bandwidth [95%]") && !Catch::Contains("GHz"));
}

TEST_CASE("empty columns are left out, and an unknown processor is reported")
{
    const Ceilings ceilings = only({made::bandwidth("L1", 1, 1e9)});
    const DataTable table = only_table(ceilings, made::machine());
    for (const char* column : {"GHz", "B/clock", "of spec", "found by search", "verdict", "condition"})
        CHECK(cell(table, 0, column) == nullptr);
    CHECK(ceilings_text(ceilings, made::machine()).find("is unknown") != std::string::npos);
}

TEST_CASE("an unsteady ceiling has its reason, and a lower bound no upper end")
{
    Ceiling ceiling = made::bandwidth("L2", 1, 118e9);
    ceiling.steadiness = Steadiness::rounds_disagree;
    CHECK(*cell(only_table(only({ceiling, load(1)}), made::machine()), 0, "verdict") == "unsteady: rounds");
    CHECK(only_table(only({ceiling, load(1)}), made::machine()).cell(0, "verdict").is_warning);
    ceiling.steadiness = Steadiness::at_least;
    CHECK(*cell(only_table(only({ceiling, load(1)}), made::machine()), 0, "verdict") == "at least");
    CHECK(*cell(only_table(only({ceiling, load(1)}), made::machine()), 0, "bandwidth [95%]") == "≥ 118 GB/s");
    Ceiling slow = latency("L1", 1e-9);
    slow.steadiness = Steadiness::at_least;
    CHECK(*cell(only_table(only({slow}), made::machine()), 0, "per access [95%]") == "≤ 1.00 ns");
}

TEST_CASE("each condition and thread count has its own table, the usual condition first")
{
    Ceiling small = load(100);
    small.condition = "small pages";
    const auto tables = ceiling_tables(only({small, load(110), load(100, 2)}), made::machine());
    REQUIRE(tables.size() == 3);
    CHECK(tables[0].title == "Bandwidth, 1 thread (measured)");
    CHECK(tables[1].title == "Bandwidth, 2 threads (measured)");
    CHECK(tables[2].title == "Bandwidth, 1 thread, small pages (measured)");
}

TEST_CASE("a latency has a time and clocks of the waiting core")
{
    const DataTable table = only_table(only({latency("L1", 1e-9)}), made::machine());
    CHECK(*cell(table, 0, "per access [95%]") == "1.00 ns [0.909, 1.11]");
    CHECK(*cell(table, 0, "clocks") == "4.00");
    CHECK(*cell(table, 0, "working set") == "32 KiB");
}

TEST_CASE("the named ceilings go from the best mix down to scalar code")
{
    std::vector<Ceiling> all;
    const auto add = [&](const std::string& operation, const std::string& isa, double per_clock) {
        Ceiling c = at_clock(made::compute("fp32", 1, 1), per_clock);
        c.operation = operation;
        c.isa = isa;
        all.push_back(c);
    };
    add("best", "avx2", 48);
    add("fma", "avx2", 32);
    add("fma", "scalar", 4);
    add("add", "avx2", 16);
    add("mul+add", "avx2", 31);
    all.push_back(at_clock(made::compute("int8", 1, 1), 128));
    all.back().operation = "dot";
    const DataTable table = named_ceilings(only(all));
    REQUIRE(table.rows.size() == 1);  // nothing stands below the int8 roof
    CHECK(*cell(table, 0, "best mix") == "48.0 GFLOP/s");
    CHECK(*cell(table, 0, "multiply-add: the roof") == "32.0 GFLOP/s");
    CHECK(*cell(table, 0, "add only") == "16.0 GFLOP/s");
    CHECK(*cell(table, 0, "without FMA") == "31.0 GFLOP/s");
    CHECK(*cell(table, 0, "without SIMD") == "4.00 GFLOP/s");
    CHECK(*cell(table, 0, "clock, scalar") == "1.00 GHz");
}

TEST_CASE("a device with one kind of ceiling has no named ones")
{
    CHECK(named_ceilings(only({made::compute("fp32", 1, 1e12)})).rows.empty());
}

TEST_CASE("a level has its sharing between cores and its end")
{
    Ceilings ceilings = only({load(1)});
    ceilings.levels_by_threads = {{"cpu", "L1", {8192}, {65536}, {}, {65536}, false, 2, {98304}, Sharing::per_core}};
    const auto tables = ceiling_tables(ceilings, made::machine());
    CHECK(*cell(tables.back(), 0, "instances") == "per core");
    CHECK(*cell(tables.back(), 0, "but not") == "96 KiB");
    CHECK(*cell(tables.back(), 0, "threads") == "2");
}

TEST_CASE("core-to-core transfers that are typically half as fast as at best are reported as vCPU migration")
{
    Ceiling transfer;
    transfer.device = "cpu";
    transfer.kind = Role::latency;
    transfer.level = "next core";
    transfer.condition = "next core";
    transfer.operation = "core_to_core";
    transfer.rate.median.value = 1 / 45e-9;
    transfer.typical = 1 / 225e-9;
    const Ceilings moving = only({transfer});
    CHECK_THAT(moved_processors(moving), Catch::Contains("to another in 45.0 ns at best") && Catch::Contains("225 ns"));
    CHECK_THAT(ceilings_text(moving, made::machine()), Catch::Contains("vCPUs migrate"));
    const DataTable table = ceiling_tables(moving, made::machine()).front();
    CHECK(*cell(table, 0, "level") == "next core");
    CHECK(cell(table, 0, "working set") == nullptr);

    transfer.typical = 1 / 60e-9;
    CHECK(moved_processors(only({transfer})).empty());
    transfer.typical = 0;
    CHECK(moved_processors(only({transfer})).empty());
}

TEST_CASE("a level lists the thread counts that do not show it")
{
    Ceilings ceilings = only({load(1)});
    ceilings.levels_by_threads = {{"cpu", "L1", {8192}, {49152}, {49152}, {49152}, false, 1},
                                  {"cpu", "L2", {65536}, {1e6}, {1e6}, {1e6}, false, 1},
                                  {"cpu", "DRAM", {64e6}, {256e6}, {}, {}, false, 1},
                                  {"cpu", "L1", {8192}, {98304}, {98304}, {98304}, false, 2},
                                  {"cpu", "DRAM", {64e6}, {256e6}, {}, {}, false, 2}};
    const DataTable table = ceiling_tables(ceilings, made::machine()).back();
    CHECK(*cell(table, 0, "verdict") == "agree");
    CHECK_FALSE(table.cell(0, "verdict").is_warning);
    CHECK(*cell(table, 1, "verdict") == "agree; not measured with 2 threads");
    CHECK(*cell(table, 2, "verdict") == "-");
}

TEST_CASE("two ceilings of one name are told apart by their working sets, others show none")
{
    std::vector<Ceiling> all(3, made::bandwidth("words", 1, 8e12));
    all[0].operation = all[1].operation = "stride_1";
    all[0].working_set = {30 * 1024 * 1024};
    all[1].working_set = {240 * 1024 * 1024};
    all[2].working_set = {30 * 1024 * 1024};
    const DataTable table = only_table(only(all), made::machine());
    REQUIRE(cell(table, 0, "working set") != nullptr);
    CHECK(*cell(table, 0, "working set") == "30 MiB");
    CHECK(*cell(table, 1, "working set") == "240 MiB");
    CHECK(*cell(table, 2, "working set") == "-");
    all.erase(all.begin());
    CHECK(cell(only_table(only(all), made::machine()), 0, "working set") == nullptr);
}
