// The expected values come from content(), not from the memory under test.
#include "cpu/probes/stream_check.hpp"

#include "cpu/buffer.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <bit>
#include <cstdint>
#include <string>

namespace roof::cpu {

namespace {

/// Sums modulo 2^64 do not depend on the order, so any number of accumulators adds up to the same.
void check_sum(std::size_t words, std::size_t passes, const RegisterFile& sums, int accumulators, int lanes)
{
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < words; ++i) expected += content(i);
    expected *= passes;
    std::uint64_t sum = 0;
    for (int accumulator = 0; accumulator < accumulators; ++accumulator) {
        for (int lane = 0; lane < lanes; ++lane) sum += std::bit_cast<std::uint64_t>(sums.at(accumulator, lane));
    }
    if (sum != expected) {
        throw Error("the words loaded add up to " + std::to_string(sum) + " and should to " + std::to_string(expected));
    }
}

template <class Expected>
void check_words(const StreamArrays& arrays, Expected expected)
{
    const auto* const words = reinterpret_cast<const std::uint64_t*>(arrays.destination());
    for (std::size_t i = 0; i < arrays.bytes / sizeof(std::uint64_t); ++i) {
        const double wanted = expected(i);
        if (words[i] == std::bit_cast<std::uint64_t>(wanted)) continue;
        throw Error("element " + std::to_string(i) + " is " + format_exact(std::bit_cast<double>(words[i])) +
                    " and should be " + format_exact(wanted));
    }
}

double value(std::size_t index)
{
    return std::bit_cast<double>(content(index));
}

}  // namespace

void check_stream(const StreamArrays& arrays, std::size_t passes, const RegisterFile& sums, int accumulators, int lanes)
{
    const std::size_t words = arrays.bytes / sizeof(std::uint64_t);
    switch (arrays.stream.movement) {
        case Movement::load:
            return check_sum(words, passes, sums, accumulators, lanes);
        case Movement::store:
            return check_words(arrays, [](std::size_t) { return stream_constant; });
        case Movement::copy:
            return check_words(arrays, [](std::size_t i) { return value(i); });
        case Movement::triad:
            return check_words(arrays, [&](std::size_t i) { return value(i) + stream_constant * value(words + i); });
    }
}

}  // namespace roof::cpu
