// The expected values come from content(), not from the memory under test.
#include "cpu/probes/stream_check.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <bit>
#include <numeric>
#include <string>

namespace roof::cpu {

namespace {

/// Sums modulo 2^64 do not depend on the order or the number of accumulators.
void check_sum(std::size_t first, std::size_t words, std::size_t passes, std::span<const std::uint64_t> result)
{
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < words; ++i) expected += content(first + i);
    expected *= passes;
    const std::uint64_t sum = std::accumulate(result.begin(), result.end(), std::uint64_t{0});
    if (sum != expected) {
        throw Error("the words loaded add up to " + std::to_string(sum) + " and should to " + std::to_string(expected));
    }
}

/// `expected(i)`: the bits of word i of the destination's segment.
template <class Expected>
void check_words(const std::byte* destination, std::size_t count, Expected expected)
{
    const auto* const words = reinterpret_cast<const std::uint64_t*>(destination);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t wanted = expected(i);
        if (words[i] == wanted) continue;
        throw Error("element " + std::to_string(i) + " is " + format_exact(std::bit_cast<double>(words[i])) +
                    " and should be " + format_exact(std::bit_cast<double>(wanted)));
    }
}

double value(std::size_t index)
{
    return std::bit_cast<double>(content(index));
}

}  // namespace

void check_stream(const StreamArrays& arrays, const Segment& segment, std::size_t passes,
                  std::span<const std::uint64_t> result)
{
    const std::byte* const destination = arrays.destination() + segment.from;
    const std::size_t words = segment.bytes / sizeof(std::uint64_t);
    const std::size_t first = (arrays.from + segment.from) / sizeof(std::uint64_t);
    const std::size_t second = first + arrays.pitch() / sizeof(std::uint64_t);
    switch (arrays.stream.movement) {
        case Movement::load:
            return check_sum(first, words, passes, result);
        case Movement::store:
            return check_words(destination, words,
                               [](std::size_t) { return std::bit_cast<std::uint64_t>(stream_constant); });
        case Movement::copy:
            return check_words(destination, words, [&](std::size_t i) { return content(first + i); });
        case Movement::update:
            return check_words(destination, words,
                               [&](std::size_t i) { return content(first + i) + passes * update_constant; });
        case Movement::triad:
            return check_words(destination, words, [&](std::size_t i) {
                return std::bit_cast<std::uint64_t>(value(first + i) + stream_constant * value(second + i));
            });
    }
}

}  // namespace roof::cpu
