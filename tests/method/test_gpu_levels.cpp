// The levels of a GPU's memory, from rates of an NVIDIA H100 80GB HBM3: medians of two rounds in TB/s, by KiB per
// multiprocessor (132 of them).
#include "tests/method/sweeps.hpp"

using namespace roof;
using namespace roof::tests;

namespace {

using Rates = std::vector<std::pair<double, double>>;  ///< KiB per multiprocessor, TB/s

const Rates through_l1{{32, 14},     {48, 20.7},   {64, 27.4},   {96, 30.2},   {128, 31.9},  {160, 32.1}, {192, 32.4},
                       {224, 32.1},  {256, 17.2},  {320, 11.8},  {384, 9.16},  {448, 3.4},   {512, 3.19}, {768, 3.14},
                       {1024, 3.14}, {1536, 3.11}, {2048, 3.11}, {3072, 3.11}, {4096, 3.11}, {6144, 3.1}};
const Rates past_l1{{32, 7.13},   {48, 7.46},   {64, 7.65},   {96, 7.65},   {128, 7.61}, {160, 7.88}, {192, 7.68},
                    {224, 7.76},  {256, 7.64},  {320, 7.72},  {384, 5.48},  {448, 3.33}, {512, 3.18}, {768, 3.14},
                    {1024, 3.14}, {1536, 3.12}, {2048, 3.11}, {3072, 3.11}, {4096, 3.1}, {6144, 3.1}};

Measurement gpu_row(const std::string& operation, const std::string& isa, double kibibytes, double rate)
{
    Measurement made = row(operation, isa, 1, 132 * 1024 * kibibytes, 1e12 * rate);
    made.device = "gpu:0";
    const double seconds = made.seconds.median.value;
    made.seconds = {Seconds{seconds}, Seconds{0.998 * seconds}, Seconds{1.002 * seconds}, 12, 0};
    return made;
}

void add(const std::string& isa, const Rates& rates, std::vector<Measurement>& rows)
{
    for (const auto& [kibibytes, rate] : rates) rows.push_back(gpu_row("load", isa, kibibytes, rate));
}

std::vector<Measurement> all_loads()
{
    std::vector<Measurement> rows;
    add("cuda", through_l1, rows);
    add("cg", past_l1, rows);
    return rows;
}

Machine h100()
{
    Machine made;
    made.devices.resize(1);
    made.devices.front().name = "gpu:0";
    made.devices.front().kind = "gpu";
    made.devices.front().levels = {
        {"L1", Bytes{30818304}, 1, 1}, {"L2", Bytes{52428800}, 1, 1}, {"DRAM", Bytes{85017493504.0}, 1, 1}};
    return made;
}

/// Of all loads, and stores of one rate over these KiB per multiprocessor.
Ceilings with_stores(const std::vector<double>& sizes, double rate)
{
    std::vector<Measurement> rows = all_loads();
    for (const double kibibytes : sizes) rows.push_back(gpu_row("store", "cuda", kibibytes, rate));
    return fit_ceilings(rows, h100());
}

const Ceiling* load(const Ceilings& ceilings, const std::string& level, const std::string& isa)
{
    const auto found = std::ranges::find_if(ceilings.all, [&](const Ceiling& ceiling) {
        return ceiling.level == level && ceiling.isa == isa && ceiling.operation == "load";
    });
    return found == ceilings.all.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("an H100 has L1, L2 and memory: ordinary loads show L1, loads past it show L2")
{
    const Ceilings ceilings = fit_ceilings(all_loads(), h100());
    REQUIRE(names(ceilings) == Names{"L1", "L2", "DRAM"});
    CHECK(ceilings.levels[0].to.value == 132 * 1024 * 224.0);
    CHECK(ceilings.levels[1].to.value > 33e6);
    CHECK(ceilings.levels[1].to.value < 52e6);
    for (const MeasuredLevel& level : ceilings.levels) CHECK_FALSE(level.contradiction);
    REQUIRE(load(ceilings, "L1", "cuda") != nullptr);
    REQUIRE(load(ceilings, "L2", "cg") != nullptr);
    CHECK(load(ceilings, "L1", "cuda")->rate.median.value == Approx(32.1e12).epsilon(0.02));
    CHECK(load(ceilings, "L2", "cg")->rate.median.value == Approx(7.65e12).epsilon(0.03));
    CHECK(load(ceilings, "DRAM", "cuda")->rate.median.value == Approx(3.11e12).epsilon(0.02));
    CHECK(load(ceilings, "L2", "cuda") == nullptr);
    CHECK(load(ceilings, "L1", "cg") == nullptr);
}

TEST_CASE("loads by two readers are a ceiling of the L2, its highest, and of no other level")
{
    std::vector<Measurement> rows = all_loads();
    // Of the memory's bytes half arrive twice, which is no rate of memory.
    for (const auto& [kibibytes, rate] : Rates{{128, 9.6}, {192, 9.7}, {256, 9.6}, {2048, 5.9}}) {
        rows.push_back(gpu_row("load", "cg", kibibytes, rate));
        rows.back().point.set("path", "readers:2");
    }
    const Ceilings ceilings = fit_ceilings(rows, h100());
    std::vector<std::string> levels;
    for (const Ceiling& ceiling : ceilings.all)
        if (ceiling.operation == "load by two readers") levels.push_back(ceiling.level);
    CHECK(levels == std::vector<std::string>{"L2"});
    CHECK(ceilings.roof(Role::bandwidth, "gpu:0", "L2", 1)->rate.median.value == Approx(9.6e12).epsilon(0.02));
    CHECK(ceilings.roof(Role::bandwidth, "gpu:0", "DRAM", 1)->rate.median.value == Approx(3.11e12).epsilon(0.02));
    CHECK(load(ceilings, "L2", "cg")->rate.median.value == Approx(7.65e12).epsilon(0.03));
}

TEST_CASE("an H100 shows no L2 without loads past the L1")
{
    std::vector<Measurement> rows;
    add("cuda", through_l1, rows);
    CHECK(names(fit_ceilings(rows, h100())) == Names{"L1", "DRAM"});
}

TEST_CASE("a GPU's stores at L1 sizes are a ceiling of the L2, because the L1 writes through")
{
    const Ceilings ceilings = with_stores({128.0, 192.0}, 4.1);
    const auto is_store = [](const Ceiling& ceiling) { return ceiling.operation == "store"; };
    REQUIRE(std::ranges::count_if(ceilings.all, is_store) == 1);
    CHECK(std::ranges::find_if(ceilings.all, is_store)->level == "L2");
}

TEST_CASE("a GPU's stores to memory are a ceiling and no roof, however fast: nobody counted what the L2 passed on")
{
    const Ceilings ceilings = with_stores({4096.0, 6144.0}, 3.31);
    const auto store = std::ranges::find(ceilings.all, "store", &Ceiling::operation);
    REQUIRE(store != ceilings.all.end());
    CHECK(store->rate.median.value == Approx(3.31e12).epsilon(0.01));
    CHECK(store->condition == "bytes not counted");
    REQUIRE(ceilings.bandwidth("gpu:0", "DRAM", 1) != nullptr);
    CHECK(ceilings.bandwidth("gpu:0", "DRAM", 1)->operation == "load");
}

TEST_CASE("a GPU's rate is the measured one, whatever clock other kernels had")
{
    std::vector<Measurement> rows;
    for (int i = 0; i < 20; ++i) {
        Measurement made = gpu_row("fma", "wgmma", 1, 900);
        made.role = Role::compute;
        made.bench = "flops";
        made.point = {};
        made.point.set("operation", "tile");
        made.point.set("isa", "wgmma");
        made.point.set("precision", i == 0 ? "bf16" : "fp8");
        made.work = {Flops{1e9}, {}, {}, Known::analytic};
        made.clock = {Hertz{i == 0 ? 1.4e9 : 1.9e9}, Hertz{1.3e9}, Hertz{2e9}, 12, 0};
        for (int k = 0; k < 12; ++k) {
            Sample sample;
            sample.seconds = made.seconds.median;
            sample.clock = made.clock.median;
            made.samples.push_back(sample);
        }
        rows.push_back(made);
    }
    const Ceilings ceilings = fit_ceilings(rows, h100());
    const auto bf16 = std::ranges::find(ceilings.all, "bf16", &Ceiling::precision);
    REQUIRE(bf16 != ceilings.all.end());
    CHECK(bf16->rate.median.value == Approx(1e9 / rows.front().seconds.median.value).epsilon(0.01));
}
