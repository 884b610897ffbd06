// ERT's loop: the host sums, over all iterations, the values at each position of an iteration. The kernel adds each
// position to its accumulator a known number of times. The order does not matter. Bandwidth: the expected values come
// from content(), not from the memory under test.
#include "cpu/probes/checks.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
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

void check_stream(const StreamArrays& arrays, const Segment& segment, std::size_t passes, const StreamKernel& kernel,
                  std::span<const std::uint64_t> result)
{
    const Stream& stream = arrays.stream;
    const std::byte* const destination = arrays.destination() + segment.from;
    const std::size_t words = segment.bytes / sizeof(std::uint64_t);
    const std::size_t pitch = arrays.pitch() / sizeof(std::uint64_t);
    const std::size_t first = (arrays.from + segment.from) / sizeof(std::uint64_t);
    if (stream.only_reads()) {
        const Join join = kernel.form().join;
        if (join == Join::none) return check_last_loads(kernel, first, words, result);
        return check_joined(join, first, words, passes, result);
    }
    check_words(destination, words, [&](std::size_t i) -> std::uint64_t {
        if (stream.flops > 0) {
            const double product = stream_constant * value(first + (stream.sources > 1 ? pitch : 0) + i);
            return std::bit_cast<std::uint64_t>(stream.sources > 1 ? value(first + i) + product : product);
        }
        if (stream.loads() == 0) return std::bit_cast<std::uint64_t>(stream_constant);
        if (!stream.in_place) return content(first + i);
        std::uint64_t addend = stream.sources > 0 ? 0 : update_constant;
        for (int source = 0; source < stream.sources; ++source)
            addend += content(first + pitch * static_cast<std::size_t>(source) + i);
        const auto at = first + pitch * static_cast<std::size_t>(stream.sources) + i;
        return content(at) + passes * addend;
    });
}

}  // namespace roof::cpu
