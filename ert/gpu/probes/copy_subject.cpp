#include "ert/gpu/probes/copy_subject.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/kernels/numbers.hpp"
#include "ert/gpu/probes/arrays.hpp"
#include "ert/gpu/stream.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

namespace roof::gpu {

namespace {

/// Pseudo-random numbers, others for each way.
std::vector<std::byte> numbers_of(std::size_t way, std::size_t bytes)
{
    std::vector<std::uint32_t> words(bytes / sizeof(std::uint32_t));
    std::ranges::generate(words, [at = way]() mutable { return number_at(at++); });
    const std::span all = std::as_bytes(std::span(words));
    return {all.begin(), all.end()};
}

class CopySubject final : public TunedSubject {
  public:
    CopySubject(Copies copies, const GpuPoint& at) : TunedSubject(at), copies_(std::move(copies))
    {
        for (std::size_t way = 0; way < copies_.ways.size(); ++way) {
            const std::vector<std::byte> numbers = numbers_of(way, copies_.bytes);
            roof::gpu::check(cudaMemcpy(copies_.ways[way].from, numbers.data(), copies_.bytes, cudaMemcpyDefault));
        }
        roof::gpu::check(cudaDeviceSynchronize());
        settle_on_fastest({{"", work_of_bytes(total()), [this](long long repeats) { enqueue(repeats); }}}, max_copies);
    }

    void check() override
    {
        const CurrentDevice current(stream().id());
        for (std::size_t way = 0; way < copies_.ways.size(); ++way) {
            std::vector<std::byte> arrived(copies_.bytes);
            roof::gpu::check(cudaMemcpy(arrived.data(), copies_.ways[way].to, arrived.size(), cudaMemcpyDefault));
            if (arrived != numbers_of(way, copies_.bytes)) throw Error("what arrived is not what was sent");
        }
    }
    Bytes memory() const override { return {2 * total()}; }

  private:
    bool both() const { return copies_.ways.size() > 1; }
    double total() const { return static_cast<double>(copies_.bytes * copies_.ways.size()); }

    void enqueue(long long repeats) const
    {
        const cudaStream_t first = stream().get();
        if (both()) fork_.order(first, second_.get());
        for (long long i = 0; i < repeats; ++i) {
            for (std::size_t way = 0; way < copies_.ways.size(); ++way) {
                const auto& [to, from] = copies_.ways[way];
                const cudaStream_t chosen = way == 0 ? first : second_.get();
                roof::gpu::check(cudaMemcpyAsync(to, from, copies_.bytes, cudaMemcpyDefault, chosen));
            }
        }
        if (both()) fork_.order(second_.get(), first);
    }

    Stream second_;
    Event fork_{false};
    Copies copies_;
};

class AccessSubject final : public KernelSubject<StreamLaunch, &StreamLaunch::passes> {
  public:
    AccessSubject(StreamOperation operation, Elsewhere there, const GpuPoint& at)
        : KernelSubject(at), operation_(operation), there_(std::move(there))
    {
        const Kernel<StreamLaunch> kernel =
            stream_kernel_of({operation, StreamLayout::together, stream_block_sizes.front()});
        const int blocks = attribute(at.id, cudaDevAttrMultiProcessorCount) * resident_blocks(kernel);
        sums_.emplace(static_cast<std::size_t>(blocks * kernel.threads), "sums of what was read");
        there_.fill();
        settle_on_fastest({{"",
                            work_of_bytes(static_cast<double>(there_.bytes)),
                            kernel,
                            {.a = there_.data,
                             .out = there_.data,
                             .sums = sums_->data(),
                             .vectors = there_.bytes / vector_bytes,
                             .blocks = blocks}}},
                          max_copies);
    }

    void check() override
    {
        const CurrentDevice current(stream().id());
        there_.fill();
        run();
        if (operation_ == StreamOperation::store) return there_.check_stored();
        const std::vector<std::uint32_t> sums = sums_->read(0, sums_->size());
        if (std::accumulate(sums.begin(), sums.end(), 0U) != sum_of_bits(there_.bytes / sizeof(float)))
            throw Error("what was read does not sum to what was written");
    }
    Bytes memory() const override { return there_.on_devices + Bytes{static_cast<double>(sums_->bytes())}; }

  private:
    StreamOperation operation_;
    Elsewhere there_;
    std::optional<Buffer<std::uint32_t>> sums_;
};

}  // namespace

std::unique_ptr<Subject> make_accesses(StreamOperation operation, Elsewhere there, const GpuPoint& at)
{
    return std::make_unique<AccessSubject>(operation, std::move(there), at);
}

std::unique_ptr<Subject> make_copies(Copies copies, const GpuPoint& at)
{
    return std::make_unique<CopySubject>(std::move(copies), at);
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
