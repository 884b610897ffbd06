#include "ert/method/bench/work.hpp"

#include "ert/base/names.hpp"

#include <array>
#include <cmath>

namespace roof {
namespace {

constexpr std::array<Named<Known>, 5> names{{
    {Known::measured, "measured"},
    {Known::counter, "counter"},
    {Known::simulated, "simulated"},
    {Known::analytic, "analytic"},
    {Known::spec, "spec"},
}};

}  // namespace

std::string_view name(Known known)
{
    return name_in(names, known);
}
Known parse_known(std::string_view word)
{
    return value_in(names, "origin of a number", word);
}

bool Work::tells_reads_from_writes() const
{
    constexpr double rounding = 1e-6;
    const double told = (read + written).value;
    return told > 0 && std::abs(told - compulsory.value) <= rounding * compulsory.value;
}

Work operator*(const Work& work, int times)
{
    Work product = work;
    product.flops = work.flops * times;
    product.compulsory = work.compulsory * times;
    product.no_reuse = work.no_reuse * times;
    product.executed = work.executed * times;
    product.read = work.read * times;
    product.written = work.written * times;
    return product;
}

}  // namespace roof
