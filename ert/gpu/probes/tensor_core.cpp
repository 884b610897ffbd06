// Subjects of the "flops" bench on the tensor cores of compute capability 9.0 by wgmma, and of 10.0 and 10.3 by
// tcgen05, there also of two blocks. Only these instructions reach the full rate there.
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

#include <algorithm>
#include <optional>

namespace roof::gpu {

namespace {

constexpr long long max_steps = 1 << 24;

/// The kernels of one generation and the layout of their sums. A unit is a block, or a pair of blocks on two
/// multiprocessors.
struct Generation {
    Tile tile;
    Kernel<WgmmaLaunch> (*kernel)(TensorFormat);
    std::vector<std::byte> (*expected_sums)(TensorFormat, const WgmmaOperands&, int steps);
    std::string_view unit;  ///< in the variant
    bool is_of_pairs = false;
};

constexpr Generation hopper{{wgmma_m, wgmma_n}, wgmma_kernel_of, sums_of_block, " warpgroups"};
constexpr Generation blackwell{{tcgen05_m, tcgen05_n}, tcgen05_kernel_of, sums_by_row, " blocks"};
constexpr Generation blackwell_pairs{
    {tcgen05_pair_m, tcgen05_n}, tcgen05_pair_kernel_of, sums_by_row, " pairs of blocks", true};

/// Units of a multiprocessor; of pairs all of the device.
int resident(const Generation& generation, TensorFormat instruction, const Kernel<WgmmaLaunch>& kernel)
{
    constexpr int columns_of_multiprocessor = 512;
    if (generation.is_of_pairs) return resident_clusters(kernel);
    const int blocks = resident_blocks(kernel);
    return &generation == &hopper ? blocks : std::min(blocks, columns_of_multiprocessor / tcgen05_columns(instruction));
}

/// FLOPs of one unit in one step.
double flops_of_step(TensorFormat instruction, Tile tile)
{
    const double k = 8.0 * wgmma_k_bytes / operand_format(instruction).storage_bits;
    return 2.0 * tile.m * tile.n * k * wgmma_instructions;
}

class WgmmaSubject final : public KernelSubject<WgmmaLaunch, &WgmmaLaunch::steps> {
  public:
    WgmmaSubject(const Generation& generation, TensorFormat instruction, const GpuPoint& at)
        : KernelSubject(at),
          generation_(generation),
          instruction_(instruction),
          operands_(image(Numbers::random).size(), "operands of the products")
    {
        const Kernel<WgmmaLaunch> kernel = generation.kernel(instruction);
        const int most = resident(generation, instruction, kernel);
        if (most == 0) throw Unsupported("no pair of blocks fits this GPU");
        operands_.write(image(Numbers::random));
        const Tile tile = generation.tile;
        const int multiprocessors = attribute(at.id, cudaDevAttrMultiProcessorCount);
        Variants variants;
        for (int each = generation.is_of_pairs ? most : 1; each <= most; ++each) {
            const int units = generation.is_of_pairs ? each : each * multiprocessors;
            variants.push_back({"m" + std::to_string(tile.m) + "n" + std::to_string(tile.n) + ", " +
                                    std::to_string(each) + std::string(generation.unit) +
                                    (generation.is_of_pairs ? "" : " per multiprocessor"),
                                work_of_flops(flops_of_step(instruction, tile) * units),
                                kernel,
                                {.operands = operands_.data(), .blocks = units * kernel.cluster}});
        }
        sums_.emplace(array_for<std::byte>(variants, &WgmmaLaunch::sums, "sums of the products",
                                           [&](const auto& one) { return units_of(one) * sum_bytes(); }));
        settle_on_fastest(variants, max_steps);
    }

    void check() override
    {
        constexpr int steps = 2;
        operands_.write(image(Numbers::whole));
        run(steps);
        const std::vector<std::byte> expected =
            generation_.expected_sums(instruction_, operands_of(Numbers::whole), steps);
        for (std::size_t block = 0; block < units_of(chosen()); ++block) {
            if (sums_->read(block * expected.size(), expected.size()) == expected) continue;
            throw Error("the sums of block " + std::to_string(block) + " are not those of the host");
        }
        operands_.write(image(Numbers::random));
    }

    Bytes memory() const override { return {static_cast<double>(operands_.bytes() + sums_->bytes())}; }

  private:
    static std::size_t units_of(const KernelVariant<WgmmaLaunch>& variant)
    {
        return static_cast<std::size_t>(variant.launch.blocks / variant.kernel.cluster);
    }
    std::size_t sum_bytes() const
    {
        return static_cast<std::size_t>(generation_.tile.m) * static_cast<std::size_t>(generation_.tile.n) *
               static_cast<std::size_t>(sum_format(instruction_).storage_bits) / 8;
    }
    WgmmaOperands operands_of(Numbers numbers) const { return wgmma_operands(instruction_, numbers, generation_.tile); }
    std::vector<std::byte> image(Numbers numbers) const { return image_of(instruction_, operands_of(numbers)); }

    const Generation& generation_;
    TensorFormat instruction_;
    Buffer<std::byte> operands_;
    std::optional<Buffer<std::byte>> sums_;
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
    return make(at.point.text("operation") == "tile_pairs" ? blackwell_pairs : blackwell, at);
}

}  // namespace roof::gpu
