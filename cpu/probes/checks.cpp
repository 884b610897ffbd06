// ERT's loop: the host sums, over all iterations, the values at each position of an iteration. The kernel adds each
// position to its accumulator a known number of times. The order does not matter. Bandwidth: the expected values come
// from content(), not from the memory under test.
#include "cpu/probes/checks.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
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
    for (std::size_t start = 0; start < count; start += row)
        for (std::size_t place = 0; place < row; ++place) sums[place] += at(first + start + place);
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

void expect(const char* what, std::uint64_t is, std::uint64_t should_be)
{
    if (is == should_be) return;
    throw Error(std::string(what) + " " + std::to_string(is) + " and should be " + std::to_string(should_be));
}

double number(std::uint64_t bits)
{
    return std::bit_cast<double>(bits);
}

/// Sums modulo 2^64, bits and maxima do not depend on the order or the number of accumulators.
void check_joined(Join join, std::size_t first, std::size_t words, std::size_t passes,
                  std::span<const std::uint64_t> result)
{
    std::uint64_t expected = 0;
    std::uint64_t found = 0;
    const auto add = [join](std::uint64_t& to, std::uint64_t word) {
        if (join == Join::sum) to += word;
        if (join == Join::bits) to |= word;
        if (join == Join::maximum) to = std::max(to, word);  // the same order as that of positive numbers
    };
    for (std::size_t i = 0; i < words; ++i) add(expected, content(first + i));
    for (const std::uint64_t word : result) add(found, word);
    if (join == Join::sum) expected *= passes;
    expect("the words loaded join to", found, expected);
}

/// Each register holds the vector that the last iteration loaded last into it.
void check_last_loads(const StreamKernel& kernel, std::size_t first, std::size_t words,
                      std::span<const std::uint64_t> result)
{
    const Form& form = kernel.form();
    const std::size_t words_each = static_cast<std::size_t>(kernel.operand_bytes()) / sizeof(std::uint64_t);
    const std::size_t register_words = static_cast<std::size_t>(kernel.isa().register_bytes) / sizeof(std::uint64_t);
    const std::size_t part_words = words / static_cast<std::size_t>(form.parts);
    std::vector<std::uint64_t> expected(result.size());
    for (int vector = 0; vector < form.vectors; ++vector) {
        for (int part = 0; part < form.parts; ++part) {
            const std::size_t begin = first + static_cast<std::size_t>(part + 1) * part_words -
                                      static_cast<std::size_t>(form.vectors - vector) * words_each;
            const std::size_t at = static_cast<std::size_t>(value_of(form, vector, part)) * register_words;
            for (std::size_t i = 0; i < words_each; ++i) expected[at + i] = content(begin + i);
        }
    }
    for (std::size_t i = 0; i < expected.size(); ++i) expect("a loaded word is", result[i], expected[i]);
}

/// `expected(i)`: the bits of word i of the destination's segment.
template <class Expected>
void check_words(const std::byte* destination, std::size_t count, Expected expected)
{
    const auto* const words = reinterpret_cast<const std::uint64_t*>(destination);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t wanted = expected(i);
        if (words[i] == wanted) continue;
        throw Error("element " + std::to_string(i) + " is " + format_exact(number(words[i])) + " and should be " +
                    format_exact(number(wanted)));
    }
}

double value(std::size_t index)
{
    return number(content(index));
}

/// A scalar of an operation on fp64 numbers.
double scalar_of(const ArrayOperation& operation)
{
    return operation.in_place ? -1 : 0.5;
}

constexpr std::uint64_t scalar_of_words = 1;

/// The sum of the operation's terms, one number at a time: what one pass makes of an element. `read(array)`: its value.
/// `begin`: to which the terms are added.
template <class Read>
double sum_of_terms(const ArrayOperation& operation, bool fused, std::optional<double> begin, const Read& read)
{
    std::optional<double> sum = begin;
    const auto factor = [&](int array) { return array == ArrayOperation::scalar ? scalar_of(operation) : read(array); };
    for (const ArrayOperation::Term& term : operation.terms) {
        double product = factor(term.factors.front());
        for (std::size_t i = 1; i + 1 < term.factors.size(); ++i) product *= factor(term.factors[i]);
        const double last = term.factors.size() > 1 ? factor(term.factors.back()) : 1;
        if (!sum)
            sum = product * last;
        else if (term.is_subtracted)
            sum = *sum - product * last;
        else
            sum = fused ? std::fma(product, last, *sum) : *sum + product * last;
    }
    return *sum;
}

/// Sums of fp64 numbers depend on their order, in the last places alone.
void check_sum(const StreamArrays& arrays, std::size_t first, std::size_t words, std::size_t pitch, std::size_t passes,
               std::span<const std::uint64_t> result)
{
    constexpr double rounding = 1e-12;
    double wanted = 0;
    double magnitude = 0;
    for (std::size_t i = 0; i < words; ++i) {
        const auto read = [&](int array) { return value(first + pitch * static_cast<std::size_t>(array) + i); };
        const double one = sum_of_terms(arrays.operation, false, 0, read);
        wanted += one * static_cast<double>(passes);
        magnitude += (std::abs(one) + 1) * static_cast<double>(passes);
    }
    double found = 0;
    for (const std::uint64_t word : result) found += number(word);
    if (std::abs(found - wanted) <= rounding * magnitude) return;
    throw Error("the sum is " + format_exact(found) + " and should be " + format_exact(wanted));
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
        for (std::size_t lane = 0; !use.is_words && lane < lanes; ++lane)
            compare(result.at(use.target, static_cast<int>(lane)), values[row * lanes + lane], use.target, lane);
        for (std::size_t lane = 0; use.is_words && lane < words; ++lane) {
            std::uint64_t found = 0;
            std::memcpy(&found, result.data() + (row * words + lane) * sizeof found, sizeof found);
            compare(found, bits[row * words + lane], use.target, lane);
        }
    }
}

RegisterFile constant_of(const ArrayOperation& operation)
{
    RegisterFile constant(1, 64, Precision::fp64);
    constant.broadcast(0, operation.words ? number(scalar_of_words) : scalar_of(operation));
    return constant;
}

void check_stream(const StreamArrays& arrays, const Segment& segment, std::size_t passes, const StreamKernel& kernel,
                  std::span<const std::uint64_t> result)
{
    const ArrayOperation& operation = arrays.operation;
    const std::byte* const destination = arrays.destination() + segment.from;
    const std::size_t words = segment.bytes / sizeof(std::uint64_t);
    const std::size_t pitch = arrays.pitch() / sizeof(std::uint64_t);
    const std::size_t first = (arrays.from + segment.from) / sizeof(std::uint64_t);
    if (operation.sums()) return check_sum(arrays, first, words, pitch, passes, result);
    if (operation.only_loads()) {
        const Join join = kernel.form().join;
        if (join == Join::none) return check_last_loads(kernel, first, words, result);
        return check_joined(join, first, words, passes, result);
    }
    const std::size_t passes_that_change = operation.in_place ? passes : 1;
    check_words(destination, words, [&](std::size_t i) -> std::uint64_t {
        const auto read = [&](int array) { return content(first + pitch * static_cast<std::size_t>(array) + i); };
        std::uint64_t stored = read(operation.sources);
        for (std::size_t pass = 0; pass < passes_that_change; ++pass) {
            const auto word = [&](int array) { return array == operation.sources ? stored : read(array); };
            if (!operation.words) {
                stored = std::bit_cast<std::uint64_t>(
                    sum_of_terms(operation, kernel.form().fused, {}, [&](int array) { return number(word(array)); }));
                continue;
            }
            std::uint64_t sum = 0;
            for (const ArrayOperation::Term& term : operation.terms)
                sum += term.is_scalar() ? scalar_of_words : word(term.factors.front());
            stored = sum;
        }
        return stored;
    });
}

}  // namespace roof::cpu
