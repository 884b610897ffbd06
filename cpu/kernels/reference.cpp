// The build asks for no fused multiply-add instructions, so the compiler cannot contract what is written apart here.
#include "cpu/kernels/reference.hpp"

#include <cmath>

namespace roof::cpu {

namespace {

template <class Real>
std::vector<double> compute(const std::vector<Step>& steps, const Constants& constants, int iterations,
                            const std::vector<double>& start)
{
    std::vector<Real> values(start.begin(), start.end());
    const auto factor = static_cast<Real>(constants.factor);
    const auto addend = static_cast<Real>(constants.addend);
    for (int i = 0; i < iterations; ++i) {
        for (const Step& step : steps) {
            Real& value = values[step.accumulator];
            switch (step.operation) {
                case Arithmetic::fma:
                    value = std::fma(value, factor, addend);
                    break;
                case Arithmetic::mul:
                    value *= factor;
                    break;
                case Arithmetic::add:
                    value += addend;
                    break;
            }
        }
    }
    return {values.begin(), values.end()};
}

}  // namespace

std::vector<double> reference(const std::vector<Step>& steps, const Constants& constants, int iterations,
                              Precision precision, const std::vector<double>& values)
{
    return precision == Precision::fp32 ? compute<float>(steps, constants, iterations, values)
                                        : compute<double>(steps, constants, iterations, values);
}

}  // namespace roof::cpu
