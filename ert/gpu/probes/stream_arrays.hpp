// The arrays of the "bandwidth" bench: filled with pseudo-random whole numbers, passed over, and checked exactly.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/probes/stream_kernel.hpp"
#include "ert/gpu/stream.hpp"

#include <optional>
#include <vector>

namespace roof::gpu {

class StreamArrays {
  public:
    /// The arrays repeat one block of numbers this large, made on the host.
    static constexpr std::size_t block_elements = std::size_t{1} << 20;
    static constexpr std::size_t block_bytes = block_elements * sizeof(double);

    /// On the current device, of `multiprocessors`. `working_set`: bytes of all arrays together, rounded down to whole
    /// blocks, at least one block each. Throws OutOfMemory or Error.
    StreamArrays(StreamOperation operation, std::size_t working_set, int multiprocessors);

    void enqueue_pass(const Stream& stream) const;
    Bytes bytes_per_pass() const;
    Bytes memory() const;

    /// Throws Error where the passes so far did not leave exactly what they should.
    void check() const;

  private:
    void check_sum() const;
    void check_output() const;
    double expected(std::size_t index) const;

    StreamOperation operation_;
    std::size_t elements_;
    int blocks_;
    std::vector<double> numbers_;  ///< of one block; `b` holds them shifted by one
    std::optional<Buffer<double>> a_;
    std::optional<Buffer<double>> b_;
    std::optional<Buffer<double>> out_;
    std::optional<Buffer<double>> sums_;
};

}  // namespace roof::gpu
