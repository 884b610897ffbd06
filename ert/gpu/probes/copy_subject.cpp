#include "ert/gpu/probes/copy_subject.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/kernels/numbers.hpp"
#include "ert/gpu/kernels/stream.hpp"
#include "ert/gpu/stream.hpp"

#include <cstring>

namespace roof::gpu {

namespace {

std::vector<std::byte> bytes_at(const void* from, std::size_t bytes)
{
    std::vector<std::byte> host(bytes);
    check(cudaMemcpy(host.data(), from, bytes, cudaMemcpyDefault));
    return host;
}

class CopySubject final : public TunedSubject {
  public:
    CopySubject(Copies copies, const GpuPoint& at) : TunedSubject(at), copies_(std::move(copies))
    {
        settle_on_fastest({{"", work_of_bytes(total()), [this](long long repeats) { enqueue(repeats); }}}, max_copies);
    }

    void check() override
    {
        const CurrentDevice current(stream().id());
        for (const auto& [to, from] : copies_.ways) {
            if (bytes_at(to, copies_.bytes) != bytes_at(from, copies_.bytes))
                throw Error("what arrived is not what was sent");
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
    Fork fork_;
    Copies copies_;
};

}  // namespace

std::unique_ptr<Subject> make_copies(Copies copies, const GpuPoint& at)
{
    return std::make_unique<CopySubject>(std::move(copies), at);
}

void fill_with_numbers(std::byte* to, std::size_t bytes, std::size_t seed)
{
    for (std::size_t i = 0; i < bytes / sizeof(std::uint32_t); ++i) {
        const std::uint32_t word = number_at(i + seed);
        std::memcpy(to + i * sizeof(word), &word, sizeof(word));
    }
}

Axis array_axis()
{
    return {.name = "working_set",
            .meaning = "bytes of each array",
            .defaults = {"67108864"},
            .allowed = {},
            .numeric = true,
            .min = 16,
            .max = 1LL << 36};
}

std::size_t array_bytes(const Point& point)
{
    return static_cast<std::size_t>(point.integer("working_set")) / vector_bytes * vector_bytes;
}

}  // namespace roof::gpu
