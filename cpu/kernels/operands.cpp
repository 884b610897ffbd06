#include "cpu/kernels/operands.hpp"

#include "cpu/workspace.hpp"

#include <bit>

namespace roof::cpu {

namespace {

struct Pair {
    double first;
    double second;
};

/// f and g are integers over powers of two, with f · g = 1 + 2^-60, 1 + 2^-36, 1 + 2^-18.
Pair divisors(Precision precision)
{
    switch (precision) {
        case Precision::fp64:
            return {252707057 * 0x1p-28, 4562284561 * 0x1p-32};
        case Precision::fp32:
            return {38737 * 0x1p-16, 1774001 * 0x1p-20};
        default:
            return {185 * 0x1p-8, 1417 * 0x1p-10};
    }
}

/// A pseudo-random number in [1, 2).
double real(int index)
{
    return std::bit_cast<double>(content(index));
}

/// A pseudo-random integer from 1 to 31.
double whole(int index)
{
    constexpr int most = 31;
    return 1 + static_cast<int>((real(index) - 1) * most);
}

double start_value(const ComputeKernel& kernel, int index)
{
    if (kernel.mix().sums_products()) return whole(index);
    // The range is narrower than [1, 2), so that a start and its quotient lie between the same powers of two.
    if (kernel.mix().uses(Arithmetic::div)) return 1 + (real(index) - 1) / 8;
    return kernel.mix().uses(Arithmetic::sqrt) ? real(index) / 2 : real(index);
}

Operands operands(const ComputeKernel& kernel)
{
    const int bytes = kernel.isa().register_bytes;
    Operands made{{kernel.mix().chains(), bytes, kernel.accumulator_format()}, {3, bytes, kernel.precision()}};
    const int elements = made.start.elements_per_register();
    for (int chain = 0; chain < kernel.mix().chains(); ++chain) {
        for (int element = 0; element < elements; ++element) {
            made.start.set(chain, element, start_value(kernel, chain * elements + element));
        }
    }
    return made;
}

/// `third`: a function of the element's index and the second constant there.
template <class Third>
void set_factors(RegisterFile& constants, Third third)
{
    const int elements = constants.elements_per_register();
    for (int element = 0; element < elements; ++element) {
        const double second = whole(elements + element);
        constants.set(0, element, whole(element));
        constants.set(1, element, second);
        constants.set(2, element, third(element, second));
    }
}

}  // namespace

Operands steady_operands(const ComputeKernel& kernel)
{
    Operands made = operands(kernel);
    if (kernel.mix().sums_products()) {
        set_factors(made.constants, [](int, double second) { return -second; });
        return made;
    }
    const bool divides = kernel.mix().uses(Arithmetic::div);
    const Pair pair = divides ? divisors(kernel.precision()) : Pair{-1, -1};
    made.constants.broadcast(0, pair.first);
    made.constants.broadcast(1, pair.second);
    return made;
}

Operands telling_operands(const ComputeKernel& kernel)
{
    Operands made = operands(kernel);
    if (kernel.mix().sums_products()) {
        set_factors(made.constants, [](int element, double) { return 16 - whole(element + 1000); });
        return made;
    }
    made.constants.broadcast(0, 1.0078125);
    made.constants.broadcast(1, 0.8125);
    return made;
}

}  // namespace roof::cpu
