// The arrays of the "bandwidth" bench: filled with pseudo-random numbers and checked exactly.
#pragma once

#include "ert/base/names.hpp"
#include "ert/base/units.hpp"
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/kernels/stream.hpp"
#include "ert/gpu/stream.hpp"

#include <functional>
#include <optional>
#include <string>

namespace roof::gpu {

constexpr EnumNames<StreamOperation::triad> names_of(StreamOperation)
{
    return {"operation", {"load", "store", "copy", "triad"}};
}

/// Array a holds the sequence of numbers; array b is shifted by this much.
inline constexpr int shift_of_b = 1;

/// 1 for load and store, 2 for copy, 3 for triad.
int arrays_of(StreamOperation operation);

/// Vectors of each array, in whole chunks of the copy engine, rounded down; 0 if the working set is less than a chunk
/// each.
std::size_t vectors_of_each(StreamOperation operation, std::size_t working_set);

/// The sum, modulo 2^32, of the bits of the first `words` floats of an array.
std::uint32_t sum_of_bits(std::size_t words);

/// The expected word `index` of the result.
float expected_word(StreamOperation operation, std::size_t index);

/// Fills the buffer with copies of the numbers; each copy doubles the part that is filled.
void repeat(const std::vector<std::byte>& numbers, Buffer<std::byte>& buffer);

/// Compares the begin, the middle and the end of an array with what is expected. Throws Error naming `what`.
void check_words(const Buffer<float>& found, const std::string& what,
                 const std::function<float(std::size_t index)>& expected);

class Arrays {
  public:
    /// On the current device. `sums`: the most that a launch leaves. Throws OutOfMemory or Error.
    Arrays(StreamOperation operation, std::size_t working_set, std::size_t sums, const Stream& stream);

    /// The launch with these arrays.
    StreamLaunch launch(StreamLaunch launch = {}) const;
    std::size_t bytes() const;  ///< of one pass, all arrays together
    Bytes memory() const;
    void clear_results();  ///< so that only a later pass can be right

    /// Throws Error if `passes` passes left anything but the expected results; loads left `sums` sums.
    void check(int passes, std::size_t sums) const;

  private:
    void check_sum(int passes, std::size_t sums) const;

    StreamOperation operation_;
    std::size_t vectors_;
    std::optional<Buffer<float>> a_;
    std::optional<Buffer<float>> b_;
    std::optional<Buffer<float>> out_;
    std::optional<Buffer<std::uint32_t>> sums_;
};

}  // namespace roof::gpu
