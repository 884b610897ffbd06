#include "ert/gpu/probes/arrays.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/kernels/bulk.hpp"

#include <algorithm>
#include <numeric>

namespace roof::gpu {

namespace {

constexpr float unwritten = -1;

std::optional<Buffer<float>> filled(std::size_t vectors, int shift, float value, const Stream& stream,
                                    const char* what_for)
{
    Buffer<float> buffer(vectors * words_of_vector, what_for);
    enqueue_fill(buffer.data(), vectors, shift, value, stream.get());
    stream.synchronize();
    return buffer;
}

template <class Element>
Element* pointer(const std::optional<Buffer<Element>>& buffer)
{
    return buffer ? buffer->data() : nullptr;
}

}  // namespace

Arrays::Arrays(StreamOperation operation, std::size_t working_set, std::size_t sums, const Stream& stream)
    : operation_(operation), vectors_(vectors_of_each(operation, working_set))
{
    if (operation != StreamOperation::store) a_ = filled(vectors_, 0, 0, stream, "an array to read");
    if (operation == StreamOperation::triad) b_ = filled(vectors_, shift_of_b, 0, stream, "an array to read");
    if (operation != StreamOperation::load) out_ = filled(vectors_, -1, unwritten, stream, "an array to write");
    if (operation == StreamOperation::load) sums_.emplace(sums, "sums of what was read");
}

StreamLaunch Arrays::launch(StreamLaunch launch) const
{
    launch.a = pointer(a_);
    launch.b = pointer(b_);
    launch.out = pointer(out_);
    launch.sums = pointer(sums_);
    launch.vectors = vectors_;
    return launch;
}

std::size_t Arrays::bytes() const
{
    return vectors_ * vector_bytes * static_cast<std::size_t>(arrays_of(operation_));
}

Bytes Arrays::memory() const
{
    return {static_cast<double>(bytes() + (sums_ ? sums_->bytes() : 0))};
}

void Arrays::clear_results()
{
    if (sums_) roof::gpu::check(cudaMemset(sums_->data(), 0, sums_->bytes()));
    if (out_) roof::gpu::check(cudaMemset(out_->data(), 0xFF, out_->bytes()));
    roof::gpu::check(cudaDeviceSynchronize());  // clearing is asynchronous, and our streams would not wait for it
}

void Arrays::check(int passes, std::size_t sums) const
{
    if (operation_ == StreamOperation::load)
        check_sum(passes, sums);
    else
        check_words(*out_, "the result", [this](std::size_t index) { return expected_word(operation_, index); });
}

void Arrays::check_sum(int passes, std::size_t sums) const
{
    const std::vector<std::uint32_t> each = sums_->read(0, sums);
    const std::uint32_t found = std::accumulate(each.begin(), each.end(), std::uint32_t{0});
    const std::uint32_t expected = static_cast<std::uint32_t>(passes) * sum_of_bits(vectors_ * words_of_vector);
    if (found != expected)
        throw Error("what was read sums to " + std::to_string(found) + ", not " + std::to_string(expected));
}

void repeat(const std::vector<std::byte>& numbers, Buffer<std::byte>& buffer)
{
    std::size_t filled = std::min(numbers.size(), buffer.bytes());
    buffer.write(std::span(numbers).first(filled));
    while (filled < buffer.bytes()) {
        const std::size_t more = std::min(filled, buffer.bytes() - filled);
        roof::gpu::check(cudaMemcpy(buffer.data() + filled, buffer.data(), more, cudaMemcpyDeviceToDevice));
        filled += more;
    }
    roof::gpu::check(cudaDeviceSynchronize());
}

void check_words(const Buffer<float>& found, const std::string& what,
                 const std::function<float(std::size_t index)>& expected)
{
    constexpr std::size_t most = std::size_t{1} << 18;
    const std::size_t count = std::min(found.size(), most);
    for (const std::size_t first : {std::size_t{0}, (found.size() - count) / 2, found.size() - count}) {
        const std::vector<float> words = found.read(first, count);
        for (std::size_t i = 0; i < count; ++i) {
            const float due = expected(first + i);
            if (words[i] == due) continue;
            throw Error("word " + std::to_string(first + i) + " of " + what + " is " + std::to_string(words[i]) +
                        ", not " + std::to_string(due));
        }
    }
}

}  // namespace roof::gpu
