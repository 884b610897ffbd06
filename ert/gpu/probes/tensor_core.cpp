// Subjects of the "flops" bench on the tensor cores of compute capability 9.0 by wgmma, and of 10.0 by tcgen05. Only
// these instructions reach the full rate there.
//
// Launched    one kernel of whole waves of resident blocks of one warpgroup; each adds products of matrices in shared
//             memory to 64 x 128 sums in registers (tcgen05: 128 x 256 in tensor memory). The number of blocks at once
//             is found by trying.
// Saturates   the tensor cores. Shared memory delivers 6 KiB for each instruction (12 KiB), three quarters of what it
//             can.
// FLOPs       2 m n k for each instruction. Dense only. Operands are random numbers with all bits of the significand in
//             use.
// Time        device events; the kernel itself reads the clock.
// Falsified   if one bit of any block's sums differs from the host's on whole numbers; if the machine code of the loop
//             has other instructions than those counted (the assembler merges identical ones in a row).
#include "ert/gpu/kernels/wgmma.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/kernels/tcgen05.hpp"
#include "ert/gpu/probes/flops_subjects.hpp"
#include "ert/gpu/probes/tensor_operands.hpp"
#include "ert/gpu/probes/tuning.hpp"

namespace roof::gpu {

namespace {

constexpr long long max_steps = 1 << 24;

/// The kernels of one generation and the layout of their sums.
struct Generation {
    Tile tile;
    void (*enqueue)(TensorFormat, const WgmmaLaunch&, cudaStream_t);
    int (*resident_blocks)(TensorFormat);
    std::vector<std::byte> (*expected_sums)(TensorFormat, const WgmmaOperands&, int steps);
    std::string_view unit;  ///< of blocks, in the variant
};

constexpr Generation hopper{{wgmma_m, wgmma_n}, enqueue_wgmma, resident_wgmma_blocks, sums_of_block, " warpgroups"};
constexpr Generation blackwell{
    {tcgen05_m, tcgen05_n}, enqueue_tcgen05, resident_tcgen05_blocks, sums_by_row, " blocks"};

/// FLOPs of one block in one step.
double flops_of_step(TensorFormat instruction, Tile tile)
{
    const double k = 8.0 * wgmma_k_bytes / operand_format(instruction).storage_bits;
    return 2.0 * tile.m * tile.n * k * wgmma_instructions;
}

class WgmmaSubject final : public TunedSubject {
  public:
    WgmmaSubject(const Generation& generation, TensorFormat instruction, const GpuPoint& at)
        : TunedSubject(at),
          generation_(generation),
          instruction_(instruction),
          multiprocessors_(attribute(at.id, cudaDevAttrMultiProcessorCount)),
          operands_(image(Numbers::random).size(), "operands of the products"),
          sums_(static_cast<std::size_t>(multiprocessors_ * generation.resident_blocks(instruction)) * sum_bytes(),
                "sums of the products")
    {
        const Tile tile = generation.tile;
        operands_.write(image(Numbers::random));
        std::vector<Variant> variants;
        for (int each = 1; each <= generation.resident_blocks(instruction); ++each) {
            const int blocks = multiprocessors_ * each;
            variants.push_back({"m" + std::to_string(tile.m) + "n" + std::to_string(tile.n) + ", " +
                                    std::to_string(each) + std::string(generation.unit) + " per multiprocessor",
                                work_of_flops(flops_of_step(instruction, tile) * blocks),
                                [this, blocks](long long steps) { enqueue(blocks, steps); }});
        }
        blocks_ = multiprocessors_ * (static_cast<int>(settle_on_fastest(variants, max_steps)) + 1);
    }

    void check() override
    {
        constexpr int steps = 2;
        operands_.write(image(Numbers::whole));
        run(steps);
        const std::vector<std::byte> expected =
            generation_.expected_sums(instruction_, operands_of(Numbers::whole), steps);
        for (int block = 0; block < blocks_; ++block) {
            if (sums_.read(static_cast<std::size_t>(block) * expected.size(), expected.size()) == expected) continue;
            throw Error("the sums of block " + std::to_string(block) + " are not those of the host");
        }
        operands_.write(image(Numbers::random));
    }

    Bytes memory() const override { return {static_cast<double>(operands_.bytes() + sums_.bytes())}; }

  private:
    std::size_t sum_bytes() const
    {
        return static_cast<std::size_t>(generation_.tile.m) * static_cast<std::size_t>(generation_.tile.n) *
               static_cast<std::size_t>(sum_format(instruction_).storage_bits) / 8;
    }
    WgmmaOperands operands_of(Numbers numbers) const { return wgmma_operands(instruction_, numbers, generation_.tile); }
    std::vector<std::byte> image(Numbers numbers) const { return image_of(instruction_, operands_of(numbers)); }

    void enqueue(int blocks, long long steps) const
    {
        generation_.enqueue(instruction_,
                            {.operands = operands_.data(),
                             .sums = sums_.data(),
                             .reading = stream().reading(),
                             .blocks = blocks,
                             .steps = static_cast<int>(steps)},
                            stream().get());
    }

    const Generation& generation_;
    TensorFormat instruction_;
    int multiprocessors_;
    Buffer<std::byte> operands_;
    Buffer<std::byte> sums_;
    int blocks_ = 1;  ///< of the chosen variant
};

std::unique_ptr<Subject> make(const Generation& generation, const GpuPoint& at)
{
    return std::make_unique<WgmmaSubject>(generation, tensor_format_of(at.point), at);
}

}  // namespace

std::unique_ptr<Subject> make_wgmma(const GpuPoint& at)
{
    return make(hopper, at);
}

std::unique_ptr<Subject> make_tcgen05(const GpuPoint& at)
{
    return make(blackwell, at);
}

}  // namespace roof::gpu
