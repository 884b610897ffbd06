// The numbers in the arrays and the expected results. Host code.
#include "ert/gpu/kernels/bulk.hpp"
#include "ert/gpu/kernels/numbers.hpp"
#include "ert/gpu/probes/arrays.hpp"

#include <bit>

namespace roof::gpu {

namespace {

std::uint32_t sum_between(std::size_t words)
{
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < words; ++i) sum += std::bit_cast<std::uint32_t>(array_word(i));
    return sum;
}

}  // namespace

int arrays_of(StreamOperation operation)
{
    return operation == StreamOperation::copy ? 2 : operation == StreamOperation::triad ? 3 : 1;
}

std::size_t vectors_of_each(StreamOperation operation, std::size_t working_set)
{
    const std::size_t each = working_set / static_cast<std::size_t>(arrays_of(operation));
    return each / bulk_chunk_bytes * (bulk_chunk_bytes / vector_bytes);
}

std::uint32_t sum_of_bits(std::size_t words)
{
    static const std::uint32_t of_period = sum_between(number_period);
    return static_cast<std::uint32_t>(words / number_period) * of_period + sum_between(words % number_period);
}

float expected_word(StreamOperation operation, std::size_t index)
{
    if (operation == StreamOperation::store) return stream_value;
    const float of_b = operation == StreamOperation::triad ? stream_scale * array_word(index, shift_of_b) : 0;
    return array_word(index) + of_b;
}

}  // namespace roof::gpu
