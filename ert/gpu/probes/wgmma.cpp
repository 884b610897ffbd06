#include "ert/gpu/probes/wgmma.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/probes/tuning.hpp"
#include "ert/gpu/probes/wgmma_operands.hpp"

#include <optional>

namespace roof::gpu {

namespace {

constexpr long long most_steps = 1 << 24;

class WgmmaSubject final : public Subject {
  public:
    WgmmaSubject(Wgmma instruction, DeviceId id, std::shared_ptr<const Nvml> nvml)
        : instruction_(instruction),
          stream_(id, std::move(nvml)),
          multiprocessors_(attribute(id, cudaDevAttrMultiProcessorCount)),
          operands_(wgmma_operand_bytes, "operands of the products"),
          sums_(static_cast<std::size_t>(multiprocessors_ * resident_wgmma_blocks(instruction)) * sum_bytes,
                "sums of the products")
    {
        give(Numbers::busy);
        std::vector<Way> ways;
        for (int blocks = 1; blocks <= resident_wgmma_blocks(instruction); ++blocks) {
            ways.push_back(
                {"", flops_of_step(instruction) * blocks, [this, blocks](long long steps) { enqueue(blocks, steps); }});
        }
        const Tuned tuned = tune(stream_, ways, most_steps);
        blocks_each_ = static_cast<int>(tuned.way) + 1;
        steps_ = tuned.repeats;
    }

    Work work() const override
    {
        return {Flops{flops_of_step(instruction_) * blocks() * static_cast<double>(steps_)}, {}, {}, Known::analytic};
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
        const std::vector<std::byte> due =
            sums_of_block(instruction_, wgmma_operands(instruction_, Numbers::telling), steps);
        for (int block = 0; block < blocks(); ++block) {
            if (sums_.read(static_cast<std::size_t>(block) * due.size(), due.size()) == due) continue;
            throw Error("the sums of block " + std::to_string(block) + " are not those of the host");
        }
        give(Numbers::busy);
    }

    std::string variant() const override
    {
        return "m64n128, " + std::to_string(blocks_each_) + " warpgroups per multiprocessor";
    }
    std::vector<std::string> remarks() const override { return stream_.remarks(); }
    Bytes memory() const override { return {static_cast<double>(operands_.bytes() + sums_.bytes())}; }

  private:
    static constexpr std::size_t sum_bytes = std::size_t{wgmma_threads} * wgmma_sums * sizeof(float);

    int blocks() const { return multiprocessors_ * blocks_each_; }

    void give(Numbers numbers) { operands_.write(image_of(instruction_, wgmma_operands(instruction_, numbers))); }

    void enqueue(int blocks_each, long long steps) const
    {
        enqueue_wgmma(instruction_,
                      {.operands = operands_.data(),
                       .sums = sums_.data(),
                       .reading = stream_.reading(),
                       .blocks = multiprocessors_ * blocks_each,
                       .steps = static_cast<int>(steps)},
                      stream_.get());
    }

    Wgmma instruction_;
    WatchedStream stream_;
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

double flops_of_step(Wgmma instruction)
{
    const double k = 8.0 * wgmma_k_bytes / operand_format(instruction).storage_bits;
    return 2.0 * wgmma_m * wgmma_n * k * wgmma_instructions;
}

std::unique_ptr<Subject> make_wgmma(Precision precision, bool is_e5m2, DeviceId id, std::shared_ptr<const Nvml> nvml)
{
    const CurrentDevice current(id);
    return std::make_unique<WgmmaSubject>(wgmma_for(precision, is_e5m2), id, std::move(nvml));
}

}  // namespace roof::gpu
