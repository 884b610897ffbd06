#include "ert/gpu/probes/chain_reference.hpp"

#include "ert/base/formats.hpp"

#include <cmath>
#include <limits>
#include <random>

namespace roof::gpu {

namespace {

/// An odd number and its inverse modulo 2^32.
constexpr double odd = 1664525;
constexpr double inverse_of_odd = -18851643;

double apply(const ChainKernel& kernel, const Format& format, double x, double factor, double addend)
{
    switch (kernel.operation) {
        case ChainOperation::fma:
            return multiply_add(format, x, factor, format.is_integer ? addend : x);
        case ChainOperation::add:
            return multiply_add(format, x, 1, addend);
        case ChainOperation::mul:
            return multiply_add(format, x, factor, 0);
    }
    return x;
}

}  // namespace

std::array<double, 4> chain_constants(const ChainKernel& kernel)
{
    const Format format = format_of(kernel.precision);
    if (format.is_integer) return {odd, 12345, inverse_of_odd, round_to(format, -12345 * inverse_of_odd)};
    // Of all factors near 1.4, the one whose reciprocal the format holds best.
    double factor{};
    double least = std::numeric_limits<double>::infinity();
    const double unit = std::ldexp(1.0, 1 - format.significand_bits);
    for (int i = 1; i < 64; i += 2) {
        const double tried = round_to(format, 1.40625 + i * unit);
        const double away = std::abs(std::fma(tried, round_to(format, 1 / tried), -1));
        if (away < least) {
            least = away;
            factor = tried;
        }
    }
    const double inverse = round_to(format, 1 / factor);
    const double addend = round_to(format, 0.3);
    if (kernel.operation == ChainOperation::add) return {1, addend, 1, -addend};
    if (kernel.operation == ChainOperation::fma) return {factor - 1, addend, inverse - 1, -addend};
    return {factor, addend, inverse, -addend};
}

std::vector<double> chain_starts(Precision precision, std::size_t count)
{
    std::mt19937 generator;
    const Format format = format_of(precision);
    std::vector<double> values(count);
    for (double& value : values) {
        const double random = generator();
        value = format.is_integer ? random - std::ldexp(1.0, 31) : round_to(format, 1 + std::ldexp(random, -33));
    }
    return values;
}

std::vector<double> chain_ends(const ChainKernel& kernel, std::span<const double> starts, int pairs)
{
    const Format format = format_of(kernel.precision);
    const auto [f, c, g, d] = chain_constants(kernel);
    std::vector<double> ends(starts.begin(), starts.end());
    for (double& x : ends) {
        for (int pair = 0; pair < pairs; ++pair) {
            x = apply(kernel, format, x, f, c);
            x = apply(kernel, format, x, g, d);
        }
    }
    return ends;
}

}  // namespace roof::gpu
