// The host sums, over all iterations, the values at each position of an iteration. The kernel adds each position to its
// accumulator a known number of times. The order does not matter.
#include "cpu/probes/ert_check.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace roof::cpu {

namespace {

template <class Element>
void write_elements(std::byte* to, std::size_t from, std::size_t bytes)
{
    auto* const elements = reinterpret_cast<Element*>(to);
    const std::size_t first = from / sizeof(Element);
    for (std::size_t i = 0; i < bytes / sizeof(Element); ++i) elements[i] = static_cast<Element>(ert_value(first + i));
}

/// 64-bit word `index` of a slice, composed of its elements.
std::uint64_t word(const Format& format, std::size_t index)
{
    if (format == fp64_format) return std::bit_cast<std::uint64_t>(ert_value(index));
    const std::array<float, 2> pair{static_cast<float>(ert_value(2 * index)),
                                    static_cast<float>(ert_value(2 * index + 1))};
    return std::bit_cast<std::uint64_t>(pair);
}

/// Sums `at(i)` for `count` numbers from `first`, by their position in rows of `row`.
template <class Number, class At>
std::vector<Number> sums_by_place(std::size_t first, std::size_t count, std::size_t row, const At& at)
{
    std::vector<Number> sums(row);
    for (std::size_t start = 0; start < count; start += row) {
        for (std::size_t place = 0; place < row; ++place) sums[place] += at(first + start + place);
    }
    return sums;
}

/// The expected values of the accumulators, `row` in each, when the loop's uses of this kind add `sums`.
template <class Number>
std::vector<Number> expected(const IntensityKernel& kernel, bool is_words, std::size_t row,
                             const std::vector<Number>& sums, Number passes)
{
    std::vector<Number> values(static_cast<std::size_t>(kernel.accumulators()) * row);
    for (const IntensityKernel::Use& use : kernel.uses()) {
        if (use.is_words != is_words) continue;
        const auto to = static_cast<std::size_t>(use.target) * row;
        const auto from = static_cast<std::size_t>(use.vector) * row;
        for (std::size_t i = 0; i < row; ++i) values[to + i] += passes * sums[from + i];
    }
    return values;
}

template <class Number>
void compare(Number found, Number wanted, int accumulator, std::size_t lane)
{
    if (found == wanted) return;
    throw Error("lane " + std::to_string(lane) + " of sum " + std::to_string(accumulator) + " is " +
                format_exact(static_cast<double>(found)) + " and should be " +
                format_exact(static_cast<double>(wanted)));
}

}  // namespace

Writer ert_writer(Precision precision)
{
    return precision == Precision::fp64 ? write_elements<double> : write_elements<float>;
}

void check_ert(const IntensityKernel& kernel, std::size_t first, std::size_t bytes, std::size_t passes,
               const RegisterFile& result)
{
    const auto element = static_cast<std::size_t>(result.format().storage_bits / 8);
    const auto lanes = static_cast<std::size_t>(result.elements_per_register());
    const auto words = static_cast<std::size_t>(kernel.operand_bytes()) / sizeof(std::uint64_t);
    const auto vectors = static_cast<std::size_t>(kernel.vectors());
    const std::vector<double> value_sums = sums_by_place<double>(first, bytes / element, vectors * lanes, ert_value);
    const std::vector<std::uint64_t> word_sums =
        sums_by_place<std::uint64_t>(first * element / sizeof(std::uint64_t), bytes / sizeof(std::uint64_t),
                                     vectors * words, [&](std::size_t i) { return word(result.format(), i); });
    const std::vector<double> values = expected(kernel, false, lanes, value_sums, static_cast<double>(passes));
    const std::vector<std::uint64_t> bits = expected<std::uint64_t>(kernel, true, words, word_sums, passes);

    for (const IntensityKernel::Use& use : kernel.uses()) {
        const auto row = static_cast<std::size_t>(use.target);
        for (std::size_t lane = 0; !use.is_words && lane < lanes; ++lane) {
            compare(result.at(use.target, static_cast<int>(lane)), values[row * lanes + lane], use.target, lane);
        }
        for (std::size_t lane = 0; use.is_words && lane < words; ++lane) {
            std::uint64_t found = 0;
            std::memcpy(&found, result.data() + (row * words + lane) * sizeof found, sizeof found);
            compare(found, bits[row * words + lane], use.target, lane);
        }
    }
}

}  // namespace roof::cpu
