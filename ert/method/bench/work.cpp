#include "ert/method/bench/work.hpp"

#include <cmath>

namespace roof {

Bytes Work::refetched_beyond(Bytes nearer) const
{
    Bytes sum{};
    for (const Refetch& one : refetched)
        if (nearer < one.kept) sum += one.moved;
    return sum;
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
    for (Refetch& one : product.refetched) one.moved = one.moved * times;
    return product;
}

}  // namespace roof
