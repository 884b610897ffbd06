#include "ert/method/bench/work.hpp"

#include "ert/base/names.hpp"

#include <array>

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

Work operator*(const Work& work, int times)
{
    Work product = work;
    product.flops = work.flops * times;
    product.compulsory = work.compulsory * times;
    product.no_reuse = work.no_reuse * times;
    product.executed = work.executed * times;
    return product;
}

}  // namespace roof
