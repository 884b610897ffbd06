// Subjects of the "flops" bench on the tensor cores by mma.sync, the instruction that every generation since Volta has,
// in shapes of its own.
//
// Launched    one kernel of whole waves of resident blocks; each warp has independent chains of products, each of which
//             adds A * B, A and B in registers, to its sums. The numbers of chains and of blocks at once are found by
//             trying; in fp64 also which of the two shapes.
// Saturates   the tensor cores as far as this instruction can. On compute capability 9.0 wgmma is faster.
// FLOPs       2 m n k for each instruction. Dense only. Operands are random numbers with all bits of the significand in
//             use.
// Time        device events; the kernel itself reads the clock.
// Falsified   if one bit of any warp's sums differs from the host's on whole numbers; if the machine code of the loop
//             has other instructions than those counted.
#include "ert/gpu/kernels/mma.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/gpu/probes/flops_subjects.hpp"
#include "ert/gpu/probes/tensor_operands.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>

namespace roof::gpu {

namespace {

constexpr long long max_steps = 1 << 24;
constexpr int warps_of_block = mma_threads / 32;

struct TileChoice {
    TensorFormat instruction = TensorFormat::fp16;
    int chains{};
    int warps{};  ///< of a multiprocessor
};

/// The instructions that multiply this format on a GPU of this compute capability (90 for 9.0).
std::vector<TensorFormat> instructions_for(TensorFormat format, int capability)
{
    if (capability < 80 && format == TensorFormat::int8) return {TensorFormat::turing_int8};
    if (capability < 80 && format == TensorFormat::fp16_sums) return {TensorFormat::turing_fp16_sums};
    if (capability < 80 && format == TensorFormat::fp16)
        return {capability < 75 ? TensorFormat::volta_fp16 : TensorFormat::turing_fp16};
    if (format != TensorFormat::fp64) return {format};
    return capability >= 90 ? std::vector{TensorFormat::fp64_small, format} : std::vector{TensorFormat::fp64_small};
}

std::vector<TileChoice> candidates_for(TensorFormat instruction)
{
    std::vector<TileChoice> candidates;
    for (const int chains : mma_chain_counts) {
        const int most = resident_blocks(mma_kernel_of(instruction, chains));
        for (const int blocks : std::set<int>{most, std::max(1, most / 2), std::max(1, most / 4)})
            candidates.push_back({instruction, chains, blocks * warps_of_block});
    }
    return candidates;
}

std::size_t sum_bytes(const TileChoice& candidate)
{
    const MmaShape shape = shape_of(candidate.instruction);
    return static_cast<std::size_t>(candidate.chains) * 32 * shape.sum_registers * shape.register_bytes;
}

/// FLOPs of one warp in one step.
double flops_of_step(const MmaShape& shape)
{
    return shape.flops() * mma_instructions;
}

class MmaSubject final : public TunedSubject {
  public:
    MmaSubject(const std::vector<TensorFormat>& instructions, const GpuPoint& at)
        : TunedSubject(at), multiprocessors_(attribute(at.id, cudaDevAttrMultiProcessorCount))
    {
        std::size_t most{};
        for (const TensorFormat instruction : instructions) {
            for (const TileChoice& candidate : candidates_for(instruction))
                most = std::max(most, sum_bytes(candidate) * warps_of(candidate));
        }
        sums_.emplace(most, "sums of the products");
        double best{};
        for (const TensorFormat instruction : instructions) try_instruction(instruction, best);
        write_operands(chosen_.instruction, Numbers::random);
        stream().settle([this] { enqueue(chosen_, repeats()); });
    }

    void check() override
    {
        write_operands(chosen_.instruction, Numbers::whole);
        run();
        const std::vector<std::byte> expected =
            lanes_of_sums(chosen_.instruction, chosen_.chains, mma_operands(chosen_.instruction, Numbers::whole), 1);
        const std::vector<std::byte> found = sums_->read(0, warps_of(chosen_) * expected.size());
        for (std::size_t warp = 0; warp < warps_of(chosen_); ++warp) {
            if (std::ranges::equal(std::span(found).subspan(warp * expected.size(), expected.size()), expected))
                continue;
            throw Error("the sums of warp " + std::to_string(warp) + " are not those of the host");
        }
        write_operands(chosen_.instruction, Numbers::random);
    }

    Bytes memory() const override { return {static_cast<double>(a_->bytes() + b_->bytes() + sums_->bytes())}; }

  private:
    std::size_t warps_of(const TileChoice& candidate) const
    {
        return static_cast<std::size_t>(multiprocessors_) * static_cast<std::size_t>(candidate.warps);
    }

    void write_operands(TensorFormat instruction, Numbers numbers)
    {
        const MmaOperands operands = mma_operands(instruction, numbers);
        const std::vector<std::byte> a = lanes_of_a(instruction, operands);
        const std::vector<std::byte> b = lanes_of_b(instruction, operands);
        a_.emplace(a.size(), "operands A");
        b_.emplace(b.size(), "operands B");
        a_->write(a);
        b_->write(b);
    }

    void enqueue(const TileChoice& candidate, long long steps) const
    {
        gpu::enqueue(mma_kernel_of(candidate.instruction, candidate.chains),
                     {.a = a_->data(),
                      .b = b_->data(),
                      .sums = sums_->data(),
                      .reading = stream().reading(),
                      .blocks = multiprocessors_ * candidate.warps / warps_of_block,
                      .steps = static_cast<int>(steps)},
                     stream().get());
    }

    Variant variant_of(const TileChoice& candidate)
    {
        const MmaShape shape = shape_of(candidate.instruction);
        return {"m" + std::to_string(shape.m / shape.products) + "n" + std::to_string(shape.n / shape.products) + "k" +
                    std::to_string(shape.k) + ", " + std::to_string(candidate.chains) + " chains, " +
                    std::to_string(candidate.warps) + " warps per multiprocessor",
                work_of_flops(flops_of_step(shape) * static_cast<double>(warps_of(candidate))),
                [this, candidate](long long steps) { enqueue(candidate, steps); }};
    }

    /// Instructions take different operands, so each is tuned by itself. It is chosen if its rate is above `best`,
    /// which is updated.
    void try_instruction(TensorFormat instruction, double& best)
    {
        const std::vector<TileChoice> candidates = candidates_for(instruction);
        std::vector<Variant> variants;
        for (const TileChoice& candidate : candidates) variants.push_back(variant_of(candidate));
        write_operands(instruction, Numbers::random);
        Turns turns;  // each round tries all: the variants of several instructions share the point
        const auto [fastest, steps] = tune(stream(), variants, max_steps, turns);
        const Variant& variant = variants[fastest];
        const Seconds taken = stream().time([&, repeats = steps] { variant.enqueue(repeats); });
        const double rate = variant.work.flops.value * static_cast<double>(steps) / taken.value;
        if (rate <= best) return;
        best = rate;
        chosen_ = candidates[fastest];
        settle_on(variant, steps);
    }

    int multiprocessors_;
    std::optional<Buffer<std::byte>> a_;
    std::optional<Buffer<std::byte>> b_;
    std::optional<Buffer<std::byte>> sums_;
    TileChoice chosen_;
};

}  // namespace

std::unique_ptr<Subject> make_mma(const GpuPoint& at)
{
    return std::make_unique<MmaSubject>(instructions_for(tensor_format_of(at.point), capability_of(at.device)), at);
}

}  // namespace roof::gpu
