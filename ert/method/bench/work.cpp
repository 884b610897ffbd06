#include "ert/method/bench/work.hpp"

#include <cmath>

namespace roof {

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
