#include "ert/gpu/probes/stream_arrays.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace roof::gpu {

namespace {

int arrays_of(StreamOperation operation)
{
    switch (operation) {
        case StreamOperation::load:
        case StreamOperation::store:
            return 1;
        case StreamOperation::copy:
            return 2;
        case StreamOperation::triad:
            return 3;
    }
    return 1;
}

/// Whole numbers below 2^20, so that sums of 2^32 of them are exact in any order.
std::vector<double> random_numbers(std::size_t count)
{
    std::mt19937 generator;
    std::vector<double> numbers(count);
    std::ranges::generate(numbers, [&] { return static_cast<double>(generator() >> 12); });
    return numbers;
}

std::optional<Buffer<double>> filled(std::size_t elements, const std::vector<double>& numbers)
{
    Buffer<double> buffer(elements, "an array to read");
    for (std::size_t at = 0; at < elements; at += numbers.size()) {
        detail::copy_in(buffer.data() + at, numbers.data(), numbers.size() * sizeof(double));
    }
    return buffer;
}

std::optional<Buffer<double>> cleared(std::size_t elements)
{
    Buffer<double> buffer(elements, "an array to write");
    check(cudaMemset(buffer.data(), 0, buffer.bytes()));
    return buffer;
}

double* pointer(const std::optional<Buffer<double>>& buffer)
{
    return buffer ? buffer->data() : nullptr;
}

}  // namespace

StreamArrays::StreamArrays(StreamOperation operation, std::size_t working_set, int multiprocessors)
    : operation_(operation),
      elements_(std::max<std::size_t>(1, working_set / static_cast<std::size_t>(arrays_of(operation)) / block_bytes) *
                block_elements),
      blocks_(multiprocessors * resident_stream_blocks(operation)),
      numbers_(random_numbers(block_elements))
{
    const bool reads = operation != StreamOperation::store;
    const bool writes = operation != StreamOperation::load;
    if (reads) a_ = filled(elements_, numbers_);
    if (writes) out_ = cleared(elements_);
    if (!writes) sums_.emplace(static_cast<std::size_t>(blocks_) * stream_threads_per_block, "sums of the loads");
    if (operation == StreamOperation::triad) {
        std::vector<double> shifted = numbers_;
        std::ranges::rotate(shifted, shifted.begin() + 1);
        b_ = filled(elements_, shifted);
    }
    roof::gpu::check(cudaDeviceSynchronize());  // clearing is asynchronous, and our streams would not wait for it
}

void StreamArrays::enqueue_pass(const Stream& stream) const
{
    enqueue_stream(operation_,
                   {.a = pointer(a_),
                    .b = pointer(b_),
                    .out = pointer(out_),
                    .sums = pointer(sums_),
                    .elements = elements_,
                    .blocks = blocks_},
                   stream.get());
}

Bytes StreamArrays::bytes_per_pass() const
{
    return {static_cast<double>(elements_) * sizeof(double) * arrays_of(operation_)};
}

Bytes StreamArrays::memory() const
{
    return bytes_per_pass() + Bytes{sums_ ? static_cast<double>(sums_->bytes()) : 0};
}

void StreamArrays::check() const
{
    if (operation_ == StreamOperation::load) {
        check_sum();
    } else {
        check_output();
    }
}

void StreamArrays::check_sum() const
{
    const std::vector<double> sums = sums_->read(0, sums_->size());
    const double found = std::accumulate(sums.begin(), sums.end(), 0.0);
    const double due =
        std::accumulate(numbers_.begin(), numbers_.end(), 0.0) * static_cast<double>(elements_ / block_elements);
    if (found != due) throw Error("loads sum to " + std::to_string(found) + ", not " + std::to_string(due));
}

void StreamArrays::check_output() const
{
    const std::size_t last = elements_ - block_elements;
    for (const std::size_t first : {std::size_t{0}, last / 2, last}) {
        const std::vector<double> found = out_->read(first, block_elements);
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i] == expected(first + i)) continue;
            throw Error("element " + std::to_string(first + i) + " is " + std::to_string(found[i]) + ", not " +
                        std::to_string(expected(first + i)));
        }
    }
}

double StreamArrays::expected(std::size_t index) const
{
    const double a = numbers_[index % block_elements];
    const double b = numbers_[(index + 1) % block_elements];
    switch (operation_) {
        case StreamOperation::store:
            return stream_value;
        case StreamOperation::triad:
            return a + stream_scale * b;
        default:
            return a;
    }
}

}  // namespace roof::gpu
