#include "ert/gpu/probes/copy_subject.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/kernels/numbers.hpp"
#include "ert/gpu/kernels/stream.hpp"

#include <algorithm>
#include <span>

namespace roof::gpu {

namespace {

constexpr long long max_copies = 1 << 14;  ///< in one launch

/// Pseudo-random.
std::vector<std::byte> numbers_of(std::size_t bytes)
{
    std::vector<std::uint32_t> words(bytes / sizeof(std::uint32_t));
    std::ranges::generate(words, [at = std::size_t{0}]() mutable { return number_at(at++); });
    const std::span all = std::as_bytes(std::span(words));
    return {all.begin(), all.end()};
}

class CopySubject final : public TunedSubject {
  public:
    CopySubject(std::size_t bytes, std::shared_ptr<void> to, std::shared_ptr<void> from, const GpuPoint& at)
        : TunedSubject(at), bytes_(bytes), to_(std::move(to)), from_(std::move(from))
    {
        roof::gpu::check(cudaMemcpy(from_.get(), numbers_of(bytes_).data(), bytes_, cudaMemcpyDefault));
        roof::gpu::check(cudaDeviceSynchronize());
        const auto enqueue = [this](long long repeats) {
            for (long long i = 0; i < repeats; ++i)
                roof::gpu::check(cudaMemcpyAsync(to_.get(), from_.get(), bytes_, cudaMemcpyDefault, stream().get()));
        };
        settle_on_fastest({{"", work_of_bytes(static_cast<double>(bytes_)), enqueue}}, max_copies);
    }

    void check() override
    {
        const CurrentDevice current(stream().id());
        std::vector<std::byte> arrived(bytes_);
        roof::gpu::check(cudaMemcpy(arrived.data(), to_.get(), arrived.size(), cudaMemcpyDefault));
        if (arrived != numbers_of(bytes_)) throw Error("what arrived is not what was sent");
    }
    Bytes memory() const override { return {2 * static_cast<double>(bytes_)}; }

  private:
    std::size_t bytes_;
    std::shared_ptr<void> to_;
    std::shared_ptr<void> from_;
};

}  // namespace

std::unique_ptr<Subject> make_copies(std::size_t bytes, std::shared_ptr<void> to, std::shared_ptr<void> from,
                                     const GpuPoint& at)
{
    return std::make_unique<CopySubject>(bytes, std::move(to), std::move(from), at);
}

Axis array_axis()
{
    return number_axis("working_set", "bytes of each array", {"67108864"}, 16, 1LL << 36);
}

std::size_t array_bytes(const Point& point)
{
    return static_cast<std::size_t>(point.integer("working_set")) / vector_bytes * vector_bytes;
}

}  // namespace roof::gpu
