// The build enables no fused multiply-add instructions, so the compiler cannot contract the operations here.
#include "cpu/kernels/reference.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <cmath>
#include <cstdint>
#include <string>

namespace roof::cpu {

namespace {

using Values = std::vector<double>;  ///< of one lane, one per chain

/// `Real` computes and `Round` rounds the results to the format. fp16 is computed in double: sums, products and
/// multiply-adds are exact, and a quotient or root has enough digits that rounding it again is harmless.
template <class Real, class Round>
void compute(const ComputeKernel& kernel, const RegisterFile& constants, int iterations, Values& values, Round round)
{
    const Real constant[] = {static_cast<Real>(constants.at(0, 0)), static_cast<Real>(constants.at(1, 0))};
    std::vector<Real> x(values.begin(), values.end());
    for (int i = 0; i < iterations; ++i) {
        for (const Step& step : kernel.steps()) {
            Real& value = x[step.accumulator];
            const Real c = constant[step.constant];
            switch (step.operation) {
                case Arithmetic::fma:
                    value = round(std::fma(value, c, c));
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
double product(const ComputeKernel& kernel, const RegisterFile& constants, int constant, int lane)
{
    const int beside = bytes_of(kernel.accumulator_format()) / bytes_of(constants.format());  // elements in a lane
    double sum = 0;
    if (!kernel.mix().uses(Arithmetic::tile)) {
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
void add_products(const ComputeKernel& kernel, const RegisterFile& constants, int lane, int iterations, Values& values)
{
    const double products[] = {0, product(kernel, constants, 1, lane), product(kernel, constants, 2, lane)};
    for (const Step& step : kernel.steps()) values[step.accumulator] += iterations * products[step.constant];
}

void compute_lane(const ComputeKernel& kernel, const RegisterFile& constants, int lane, int iterations, Values& values)
{
    const auto as_it_is = [](auto value) { return value; };
    if (kernel.accumulator_format() != format_of(kernel.precision()))
        return add_products(kernel, constants, lane, iterations, values);
    switch (kernel.accumulator_format()) {
        case Format::fp64:
            return compute<double>(kernel, constants, iterations, values, as_it_is);
        case Format::fp32:
            return compute<float>(kernel, constants, iterations, values, as_it_is);
        default:
            return compute<double>(kernel, constants, iterations, values,
                                   [](double value) { return rounded(Format::fp16, value); });
    }
}

std::string place(int chain, int lane)
{
    return "chain " + std::to_string(chain) + ", lane " + std::to_string(lane) + " ";
}

}  // namespace

RegisterFile reference(const ComputeKernel& kernel, const Operands& operands, int iterations)
{
    RegisterFile expected(kernel.mix().chains(), kernel.isa().register_bytes, kernel.accumulator_format());
    for (int lane = 0; lane < kernel.lanes(); ++lane) {
        Values values;
        for (int chain = 0; chain < kernel.mix().chains(); ++chain) values.push_back(operands.start.at(chain, lane));
        compute_lane(kernel, operands.constants, lane, iterations, values);
        for (int chain = 0; chain < kernel.mix().chains(); ++chain) expected.set(chain, lane, values[chain]);
    }
    return expected;
}

void check_same(const ComputeKernel& kernel, const RegisterFile& result, const RegisterFile& expected)
{
    for (int chain = 0; chain < kernel.mix().chains(); ++chain) {
        for (int lane = 0; lane < kernel.lanes(); ++lane) {
            if (result.at(chain, lane) == expected.at(chain, lane)) continue;
            throw Error(place(chain, lane) + "is " + format_exact(result.at(chain, lane)) + " and should be " +
                        format_exact(expected.at(chain, lane)));
        }
    }
}

void check_normal(const ComputeKernel& kernel, const RegisterFile& result)
{
    for (int chain = 0; chain < kernel.mix().chains(); ++chain) {
        for (int lane = 0; lane < kernel.lanes(); ++lane) {
            const double value = result.at(chain, lane);
            if (is_normal(result.format(), value)) continue;
            throw Error(place(chain, lane) + "ended at " + format_exact(value));
        }
    }
}

}  // namespace roof::cpu
