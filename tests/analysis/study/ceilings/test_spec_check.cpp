// Ceilings beside their specs.
#include "analysis/study/ceilings/ceiling_tables.hpp"

#include "tests/method/sweeps.hpp"

using namespace roof;
using namespace roof::analysis;
using namespace roof::tests;

namespace {

/// Two cores, each with a spec of 64 FLOPs and 128 bytes per clock.
Machine machine_of_guide()
{
    Machine made = machine();
    made.cores = 2;
    made.threads = 2;
    made.devices[0].kind = "cpu";
    made.devices[0].spec_rates = {{"compute", "core", "fma", "avx2", "fp32", 64, "Made, Guide 1"},
                                  {"bandwidth", "L1", "load", "", "", 128, "Made, Guide 1"},
                                  {"bandwidth", "L2", "load", "", "", 64, "Made, Guide 1"}};
    return made;
}

Ceiling of(Role kind, const std::string& level, const std::string& operation)
{
    Ceiling ceiling;
    ceiling.device = "cpu";
    ceiling.kind = kind;
    ceiling.level = level;
    ceiling.operation = operation;
    return ceiling;
}

/// Loads at a clock of 1 GHz, known to one part in a thousand.
Ceiling load_at(double per_clock_and_thread, int threads = 1, const std::string& level = "L1")
{
    Ceiling ceiling = of(Role::bandwidth, level, "load");
    ceiling.threads = threads;
    const double rate = per_clock_and_thread * 1e9 * threads;
    ceiling.rate = {{rate}, {0.999 * rate}, {1.001 * rate}, 9, 0};
    ceiling.per_clock = {{per_clock_and_thread}, {0.999 * per_clock_and_thread}, {1.001 * per_clock_and_thread}, 9, 0};
    return ceiling;
}

Ceiling arithmetic(const std::string& precision, const std::string& isa)
{
    Ceiling ceiling = of(Role::compute, "core", "fma");
    ceiling.precision = precision;
    ceiling.isa = isa;
    return ceiling;
}

}  // namespace

TEST_CASE("a ceiling has the spec of its kind, level, operation, instruction set and precision")
{
    const Machine machine = machine_of_guide();
    CHECK(spec_rate_of(load_at(100), machine)->per_clock == 128);
    CHECK(spec_rate_of(arithmetic("fp32", "avx2"), machine)->per_clock == 64);
    CHECK(spec_rate_of(arithmetic("fp64", "avx2"), machine) == nullptr);
    CHECK(spec_rate_of(arithmetic("fp32", "avx512"), machine) == nullptr);
    CHECK(spec_rate_of(load_at(100, 1, "L3"), machine) == nullptr);
    Ceiling other = load_at(100);
    other.device = "gpu:0";
    CHECK(spec_rate_of(other, machine) == nullptr);
}

TEST_CASE("the share of a spec is per clock and core for any number of threads")
{
    const Machine machine = machine_of_guide();
    CHECK(*share_of_spec(load_at(64), machine) == Approx(0.5));
    CHECK(*share_of_spec(load_at(64, 2), machine) == Approx(0.5));
    CHECK_FALSE(share_of_spec(of(Role::bandwidth, "L1", "load"), machine));
}

TEST_CASE("a GPU's spec is for one multiprocessor, and its rate is for all")
{
    Machine machine = machine_of_guide();
    Device gpu = machine.devices.front();
    gpu.name = "gpu:0";
    gpu.kind = "gpu";
    gpu.facts["multiprocessors"] = "4";
    machine.devices.push_back(gpu);
    Ceiling ceiling = load_at(4 * 64);
    ceiling.device = "gpu:0";
    CHECK(per_clock_and_core(ceiling, machine) == Approx(64));
    CHECK(*share_of_spec(ceiling, machine) == Approx(0.5));
}

TEST_CASE("threads that share a core share its spec")
{
    Machine machine = machine_of_guide();
    machine.smt = 2;
    machine.threads = 4;
    CHECK(*share_of_spec(load_at(32, 4), machine) == Approx(0.5));
    Ceiling packed = load_at(32, 2);
    packed.condition = "siblings";
    packed.packs_cores = true;
    CHECK(*share_of_spec(packed, machine) == Approx(0.5));
}
