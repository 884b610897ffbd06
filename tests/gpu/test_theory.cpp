// Spec rates of a multiprocessor against the data sheets' rates of whole cards.
#include "ert/gpu/theory.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::gpu;

namespace {

double per_clock(int capability, const std::string& isa, const std::string& operation, const std::string& precision)
{
    for (const SpecRate& spec : spec_rates_of(capability)) {
        if (spec.isa == isa && spec.operation == operation && spec.precision == precision) return spec.per_clock;
    }
    return 0;
}

}  // namespace

TEST_CASE("spec rates per clock give the data sheets' rates of a whole card")
{
    constexpr double a100 = 108 * 1.41e9;
    CHECK(a100 * per_clock(80, "cuda", "fma", "fp64") == Approx(9.7e12).epsilon(0.01));
    CHECK(a100 * per_clock(80, "cuda", "fma", "fp32") == Approx(19.5e12).epsilon(0.01));
    CHECK(a100 * per_clock(80, "mma", "tile", "bf16") == Approx(312e12).epsilon(0.01));
    CHECK(a100 * per_clock(80, "mma", "tile", "int8") == Approx(624e12).epsilon(0.01));
    constexpr double h100 = 132 * 1.98e9;
    CHECK(h100 * per_clock(90, "cuda", "fma", "fp32") == Approx(66.9e12).epsilon(0.01));
    CHECK(h100 * per_clock(90, "mma", "tile", "fp64") == Approx(66.9e12).epsilon(0.01));
    constexpr double h100_products = 132 * 1.83e9;  // the clock of the data sheet's tensor rates
    CHECK(h100_products * per_clock(90, "wgmma", "tile", "bf16") == Approx(989.4e12).epsilon(0.01));
    CHECK(h100_products * per_clock(90, "wgmma", "tile", "fp8") == Approx(1978.9e12).epsilon(0.01));
}

TEST_CASE("an unknown generation has no spec rates, and each spec rate has its source")
{
    CHECK(spec_rates_of(75).empty());
    CHECK(spec_rates_of(100).empty());
    CHECK(per_clock(80, "wgmma", "tile", "bf16") == 0);
    for (const SpecRate& spec : spec_rates_of(90)) CHECK_FALSE(spec.source.empty());
}
