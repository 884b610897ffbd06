// The build enables no fused multiply-add instructions, so the compiler cannot contract the operations here; one for
// AArch64, which always has them, needs -ffp-contract=off.
#include "cpu/kernels/reference.hpp"

#include "cpu/workspace.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <bit>
#include <cmath>
#include <string>

namespace roof::cpu {
namespace {

using Values = std::vector<double>;  ///< of one lane, one per chain

/// `Real` computes and `Round` rounds the results to the format. fp16 is computed in double: sums, products and
/// multiply-adds are exact, and a quotient or root has enough digits that rounding it again is harmless.
template <class Real, class Round>
void compute(const ComputeLoop& loop, const RegisterFile& constants, int iterations, Values& values, Round round)
{
    const Real constant[] = {static_cast<Real>(constants.at(0, 0)), static_cast<Real>(constants.at(1, 0))};
    std::vector<Real> x(values.begin(), values.end());
    for (int i = 0; i < iterations; ++i) {
        for (const Step& step : loop.steps()) {
            Real& value = x[step.accumulator];
            const Real c = constant[step.constant];
            switch (step.operation) {
                case Arithmetic::fma:
                    value = round(loop.isa().is_aarch64() ? std::fma(c, c, value) : std::fma(value, c, c));
                    break;
                case Arithmetic::mul:
                    value = round(value * c);
                    break;
                case Arithmetic::add:
                    value = round(value + c);
                    break;
                case Arithmetic::div:
                    value = round(value / c);
                    break;
                case Arithmetic::sqrt:
                    value = round(std::sqrt(value));
                    break;
                default:
                    throw Error("a product of vectors among the operations on one element");
            }
        }
    }
    values.assign(x.begin(), x.end());
}

/// The product that one step with that constant adds in that lane.
double product(const ComputeLoop& loop, const RegisterFile& constants, int constant, int lane)
{
    const int beside = loop.accumulator_format().storage_bits / constants.format().storage_bits;  // elements in a lane
    double sum = 0;
    if (!loop.mix().uses(Arithmetic::tile)) {
        for (int k = lane * beside; k < (lane + 1) * beside; ++k) sum += constants.at(0, k) * constants.at(constant, k);
        return sum;
    }
    constexpr int size = 16;  // rows, and lanes in a row
    const int row = lane / size;
    const int column = lane % size;
    for (int k = 0; k < size * beside; ++k) {
        const int first = row * size * beside + k;
        const int second = (k / beside * size + column) * beside + k % beside;
        sum += constants.at(0, first) * constants.at(constant, second);
    }
    return sum;
}

/// Whole numbers below 2^24, or modulo 2^32, so they are exact in any order of additions.
void add_products(const ComputeLoop& loop, const RegisterFile& constants, int lane, int iterations, Values& values)
{
    const double products[] = {0, product(loop, constants, 1, lane), product(loop, constants, 2, lane)};
    for (const Step& step : loop.steps()) values[step.accumulator] += iterations * products[step.constant];
}

void compute_lane(const ComputeLoop& loop, const RegisterFile& constants, int lane, int iterations, Values& values)
{
    const auto as_it_is = [](auto value) { return value; };
    if (loop.accumulator_format() != format_of(loop.precision()))
        return add_products(loop, constants, lane, iterations, values);
    if (loop.accumulator_format() == fp64_format) return compute<double>(loop, constants, iterations, values, as_it_is);
    if (loop.accumulator_format() == fp32_format) return compute<float>(loop, constants, iterations, values, as_it_is);
    compute<double>(loop, constants, iterations, values, [](double value) { return round_to(fp16_format, value); });
}

std::string place(int chain, int lane)
{
    return "chain " + std::to_string(chain) + ", lane " + std::to_string(lane) + " ";
}

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

double start_value(const ComputeLoop& loop, int index)
{
    if (loop.mix().sums_products()) return whole(index);
    // The range is narrower than [1, 2), so that a start and its quotient lie between the same powers of two.
    if (loop.mix().uses(Arithmetic::div)) return 1 + (real(index) - 1) / 8;
    // No whole number in any format, from which additions of whole numbers would come to 0.
    if (loop.mix().uses(Arithmetic::add)) return 1.125 + (real(index) - 1) * 0.75;
    return loop.mix().uses(Arithmetic::sqrt) ? real(index) / 2 : real(index);
}

Operands operands(const ComputeLoop& loop)
{
    const int bytes = loop.isa().register_bytes;
    Operands made{{loop.mix().chains(), bytes, loop.accumulator_format()}, {3, bytes, loop.precision()}};
    const int elements = made.start.elements_per_register();
    for (int chain = 0; chain < loop.mix().chains(); ++chain)
        for (int element = 0; element < elements; ++element)
            made.start.set(chain, element, start_value(loop, chain * elements + element));
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

Operands steady_operands(const ComputeLoop& loop)
{
    Operands made = operands(loop);
    if (loop.mix().sums_products()) {
        set_factors(made.constants, [](int, double second) { return -second; });
        return made;
    }
    const bool divides = loop.mix().uses(Arithmetic::div);
    const Pair pair = divides ? divisors(loop.precision()) : Pair{-1, -1};
    made.constants.broadcast(0, pair.first);
    made.constants.broadcast(1, pair.second);
    return made;
}

Operands telling_operands(const ComputeLoop& loop)
{
    Operands made = operands(loop);
    if (loop.mix().sums_products()) {
        set_factors(made.constants, [](int element, double) { return 16 - whole(element + 1000); });
        return made;
    }
    made.constants.broadcast(0, 1.01);  // rounded to the format, so that its products have more digits than the format
    made.constants.broadcast(1, 0.8125);
    return made;
}

RegisterFile reference(const ComputeLoop& loop, const Operands& operands, int iterations)
{
    RegisterFile expected(loop.mix().chains(), loop.isa().register_bytes, loop.accumulator_format());
    for (int lane = 0; lane < loop.lanes(); ++lane) {
        Values values;
        for (int chain = 0; chain < loop.mix().chains(); ++chain) values.push_back(operands.start.at(chain, lane));
        compute_lane(loop, operands.constants, lane, iterations, values);
        for (int chain = 0; chain < loop.mix().chains(); ++chain) expected.set(chain, lane, values[chain]);
    }
    return expected;
}

void check_same(const ComputeLoop& loop, const RegisterFile& result, const RegisterFile& expected)
{
    for (int chain = 0; chain < loop.mix().chains(); ++chain) {
        for (int lane = 0; lane < loop.lanes(); ++lane) {
            if (result.at(chain, lane) == expected.at(chain, lane)) continue;
            throw Error(place(chain, lane) + "is " + format_exact(result.at(chain, lane)) + " and should be " +
                        format_exact(expected.at(chain, lane)));
        }
    }
}

void check_normal(const ComputeLoop& loop, const RegisterFile& result)
{
    for (int chain = 0; chain < loop.mix().chains(); ++chain) {
        for (int lane = 0; lane < loop.lanes(); ++lane) {
            const double value = result.at(chain, lane);
            if (is_normal(result.format(), value)) continue;
            throw Error(place(chain, lane) + "ended at " + format_exact(value));
        }
    }
}

}  // namespace roof::cpu
