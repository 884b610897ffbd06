#include "ert/gpu/probes/wgmma.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/kernels/tcgen05.hpp"
#include "ert/gpu/probes/tuning.hpp"
#include "ert/gpu/probes/wgmma_operands.hpp"

#include <optional>

namespace roof::gpu {

namespace {

constexpr long long most_steps = 1 << 24;

/// One generation's kernels, and what they are given and give back.
struct Generation {
    Tile tile;
    void (*enqueue)(Wgmma, const WgmmaLaunch&, cudaStream_t);
    int (*resident_blocks)(Wgmma);
    std::vector<std::byte> (*due_sums)(Wgmma, const WgmmaOperands&, int steps);
    std::string_view words;
};

constexpr Generation hopper{{wgmma_m, wgmma_n}, enqueue_wgmma, resident_wgmma_blocks, sums_of_block, " warpgroups"};
constexpr Generation blackwell{
    {tcgen05_m, tcgen05_n}, enqueue_tcgen05, resident_tcgen05_blocks, sums_by_row, " blocks"};

class WgmmaSubject final : public Subject {
  public:
    WgmmaSubject(const Generation& generation, Wgmma instruction, DeviceId id, std::shared_ptr<const Nvml> nvml)
        : generation_(generation),
          instruction_(instruction),
          stream_(id, std::move(nvml)),
          multiprocessors_(attribute(id, cudaDevAttrMultiProcessorCount)),
          operands_(image(Numbers::busy).size(), "operands of the products"),
          sums_(static_cast<std::size_t>(multiprocessors_ * generation.resident_blocks(instruction)) * sum_bytes(),
                "sums of the products")
    {
        give(Numbers::busy);
        std::vector<Way> ways;
        for (int blocks = 1; blocks <= generation.resident_blocks(instruction); ++blocks) {
            ways.push_back({"", flops_of_step(instruction, generation.tile) * blocks,
                            [this, blocks](long long steps) { enqueue(blocks, steps); }});
        }
        const Tuned tuned = tune(stream_, ways, most_steps);
        blocks_each_ = static_cast<int>(tuned.way) + 1;
        steps_ = tuned.repeats;
    }

    Work work() const override
    {
        return {Flops{flops_of_step(instruction_, generation_.tile) * blocks() * static_cast<double>(steps_)},
                {},
                {},
                Known::analytic};
    }

    void launch(Trace& trace) override
    {
        stream_.launch(trace, [this] { enqueue(blocks_each_, steps_); });
    }

    void check() override
    {
        constexpr int steps = 2;
        give(Numbers::telling);
        stream_.time([this] { enqueue(blocks_each_, steps); });
        const std::vector<std::byte> due = generation_.due_sums(instruction_, operands_of(Numbers::telling), steps);
        for (int block = 0; block < blocks(); ++block) {
            if (sums_.read(static_cast<std::size_t>(block) * due.size(), due.size()) == due) continue;
            throw Error("the sums of block " + std::to_string(block) + " are not those of the host");
        }
        give(Numbers::busy);
    }

    std::string variant() const override
    {
        return "m" + std::to_string(generation_.tile.m) + "n" + std::to_string(generation_.tile.n) + ", " +
               std::to_string(blocks_each_) + std::string(generation_.words) + " per multiprocessor";
    }
    std::vector<std::string> remarks() const override { return stream_.remarks(); }
    Bytes memory() const override { return {static_cast<double>(operands_.bytes() + sums_.bytes())}; }

  private:
    std::size_t sum_bytes() const
    {
        return static_cast<std::size_t>(generation_.tile.m) * static_cast<std::size_t>(generation_.tile.n) *
               sizeof(float);
    }
    WgmmaOperands operands_of(Numbers numbers) const { return wgmma_operands(instruction_, numbers, generation_.tile); }
    std::vector<std::byte> image(Numbers numbers) const { return image_of(instruction_, operands_of(numbers)); }

    int blocks() const { return multiprocessors_ * blocks_each_; }

    void give(Numbers numbers) { operands_.write(image(numbers)); }

    void enqueue(int blocks_each, long long steps) const
    {
        generation_.enqueue(instruction_,
                            {.operands = operands_.data(),
                             .sums = sums_.data(),
                             .reading = stream_.reading(),
                             .blocks = multiprocessors_ * blocks_each,
                             .steps = static_cast<int>(steps)},
                            stream_.get());
    }

    const Generation& generation_;
    Wgmma instruction_;
    MonitoredStream stream_;
    int multiprocessors_;
    Buffer<std::byte> operands_;
    Buffer<std::byte> sums_;
    int blocks_each_ = 1;
    long long steps_ = 1;
};

}  // namespace

Wgmma wgmma_for(Precision precision, bool is_e5m2)
{
    switch (precision) {
        case Precision::tf32:
            return Wgmma::tf32;
        case Precision::fp16:
            return Wgmma::fp16;
        case Precision::bf16:
            return Wgmma::bf16;
        case Precision::int8:
            return Wgmma::int8;
        case Precision::fp8:
            return is_e5m2 ? Wgmma::e5m2 : Wgmma::e4m3;
        default:
            throw InputError("wgmma has no " + std::string(traits(precision).name));
    }
}

double flops_of_step(Wgmma instruction, Tile tile)
{
    const double k = 8.0 * wgmma_k_bytes / operand_format(instruction).storage_bits;
    return 2.0 * tile.m * tile.n * k * wgmma_instructions;
}

std::unique_ptr<Subject> make_wgmma(Precision precision, bool is_e5m2, DeviceId id, std::shared_ptr<const Nvml> nvml)
{
    const CurrentDevice current(id);
    return std::make_unique<WgmmaSubject>(hopper, wgmma_for(precision, is_e5m2), id, std::move(nvml));
}

std::unique_ptr<Subject> make_tcgen05(Precision precision, bool is_e5m2, DeviceId id, std::shared_ptr<const Nvml> nvml)
{
    const CurrentDevice current(id);
    return std::make_unique<WgmmaSubject>(blackwell, wgmma_for(precision, is_e5m2), id, std::move(nvml));
}

}  // namespace roof::gpu
