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
#include <memory>
#include <optional>
#include <set>
#include <span>

namespace roof::gpu {

namespace {

constexpr long long max_steps = 1 << 24;
constexpr int warps_of_block = mma_threads / 32;

/// The instructions that multiply this format on a GPU of this compute capability (90 for 9.0).
std::vector<TensorFormat> instructions_for(TensorFormat format, int capability)
{
    if (capability < 80 && format == TensorFormat::int8) return {TensorFormat::turing_int8};
    if (capability < 80 && format == TensorFormat::fp16)
        return {capability < 75 ? TensorFormat::volta_fp16 : TensorFormat::turing_fp16};
    if (format != TensorFormat::fp64) return {format};
    return capability >= 90 ? std::vector{TensorFormat::fp64_small, format} : std::vector{TensorFormat::fp64_small};
}

class MmaSubject final : public KernelSubject<MmaLaunch, &MmaLaunch::steps> {
  public:
    MmaSubject(const std::vector<TensorFormat>& instructions, const GpuPoint& at) : KernelSubject(at)
    {
        const int multiprocessors = attribute(at.id, cudaDevAttrMultiProcessorCount);
        Variants variants;
        std::vector<Choice> choices;
        for (const TensorFormat instruction : instructions) {
            const MmaShape shape = shape_of(instruction);
            const std::string tile = "m" + std::to_string(shape.m / shape.products) + "n" +
                                     std::to_string(shape.n / shape.products) + "k" + std::to_string(shape.k);
            const MmaOperands operands = mma_operands(instruction, Numbers::random);
            const auto a = std::make_shared<Buffer<std::byte>>(lanes_of_a(instruction, operands).size(), "operands A");
            const auto b = std::make_shared<Buffer<std::byte>>(lanes_of_b(instruction, operands).size(), "operands B");
            for (const int chains : mma_chain_counts) {
                const Kernel<MmaLaunch> kernel = mma_kernel_of(instruction, chains);
                const int most = resident_blocks(kernel);
                for (const int each : std::set<int>{most, std::max(1, most / 2), std::max(1, most / 4)}) {
                    const int warps = each * warps_of_block;
                    variants.push_back({tile + ", " + std::to_string(chains) + " chains, " + std::to_string(warps) +
                                            " warps per multiprocessor",
                                        work_of_flops(shape.flops() * mma_instructions * warps * multiprocessors),
                                        kernel,
                                        {.a = a->data(), .b = b->data(), .blocks = multiprocessors * each}});
                    choices.push_back({instruction, chains, a, b});
                }
            }
            choice_ = choices.back();
            write_operands(Numbers::random);
        }
        sums_.emplace(array_for<std::byte>(
            variants, &MmaLaunch::sums, "sums of the products",
            [&, i = std::size_t{0}](const auto& one) mutable { return sum_bytes(choices[i++]) * one.threads() / 32; }));
        choice_ = choices[settle_on_fastest(variants, max_steps)];
    }

    void check() override
    {
        write_operands(Numbers::whole);
        run();
        const std::vector<std::byte> expected =
            lanes_of_sums(choice_.instruction, choice_.chains, mma_operands(choice_.instruction, Numbers::whole), 1);
        const std::size_t warps = chosen().threads() / 32;
        const std::vector<std::byte> found = sums_->read(0, warps * expected.size());
        for (std::size_t warp = 0; warp < warps; ++warp) {
            if (std::ranges::equal(std::span(found).subspan(warp * expected.size(), expected.size()), expected))
                continue;
            throw Error("the sums of warp " + std::to_string(warp) + " are not those of the host");
        }
        write_operands(Numbers::random);
    }

    Bytes memory() const override
    {
        return {static_cast<double>(choice_.a->bytes() + choice_.b->bytes() + sums_->bytes())};
    }

  private:
    /// An instruction, whose variants share operands.
    struct Choice {
        TensorFormat instruction = TensorFormat::fp16;
        int chains{};
        std::shared_ptr<Buffer<std::byte>> a, b;
    };

    static std::size_t sum_bytes(const Choice& choice)
    {
        const MmaShape shape = shape_of(choice.instruction);
        return static_cast<std::size_t>(choice.chains) * 32 * shape.sum_registers * shape.register_bytes;
    }

    void write_operands(Numbers numbers)
    {
        const MmaOperands operands = mma_operands(choice_.instruction, numbers);
        choice_.a->write(lanes_of_a(choice_.instruction, operands));
        choice_.b->write(lanes_of_b(choice_.instruction, operands));
    }

    std::optional<Buffer<std::byte>> sums_;
    Choice choice_;
};

}  // namespace

std::unique_ptr<Subject> make_mma(const GpuPoint& at)
{
    return std::make_unique<MmaSubject>(instructions_for(tensor_format_of(at.point), capability_of(at.device)), at);
}

}  // namespace roof::gpu
