// Subjects of the "flops" bench on the CUDA cores.
//
// Launched    one kernel of whole waves of resident blocks; each thread runs independent chains of one kind of
//             instruction over a run-time number of steps. The numbers of chains and of blocks at once are found by
//             trying.
// Saturates   the pipe of that instruction and precision. Operands are in registers.
// FLOPs       2 per multiply-add, 1 per addition or multiplication, in each lane; in fp16 and bf16 a register has two
//             lanes. Loop counters are not counted: 3 instructions of some 515.
// Time        device events; the kernel itself reads the clock.
// Falsified   if one bit of any chain of any thread differs from the host's; if the machine code of the loop has other
//             instructions than those counted; if more chains or threads raise the rate.
#include "ert/gpu/kernels/chains.hpp"

#include "ert/base/error.hpp"
#include "ert/base/formats.hpp"
#include "ert/base/names.hpp"
#include "ert/gpu/probes/chain_reference.hpp"
#include "ert/gpu/probes/flops_subjects.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace roof::gpu {

constexpr EnumNames<ChainOperation::mul> names_of(ChainOperation)
{
    return {"operation", {"fma", "add", "mul"}};
}

namespace {

constexpr int max_chains = *std::ranges::max_element(chain_counts);
constexpr long long max_steps = 1 << 24;

/// FLOPs of all threads of one block in one step.
double flops_of_step(const ChainKernel& kernel)
{
    const int each = kernel.operation == ChainOperation::fma ? 2 : 1;
    return 1.0 * each * lanes_of(kernel.precision) * chain_instructions * chain_threads;
}

class ChainSubject final : public KernelSubject<ChainLaunch, &ChainLaunch::steps> {
  public:
    ChainSubject(Precision precision, ChainOperation operation, const GpuPoint& at)
        : KernelSubject(at),
          values_(chain_starts(precision, registers(1) * static_cast<std::size_t>(lanes_of(precision)))),
          starts_(bytes_of(precision, values_).size(), "starting values of the chains"),
          constants_(4 * register_bytes(precision), "constants of the chains")
    {
        starts_.write(bytes_of(precision, values_));
        std::vector<double> constants;
        for (const double value : chain_constants({precision, operation, max_chains}))
            constants.insert(constants.end(), static_cast<std::size_t>(lanes_of(precision)), value);
        constants_.write(bytes_of(precision, constants));
        const int multiprocessors = attribute(at.id, cudaDevAttrMultiProcessorCount);
        Variants variants;
        std::vector<ChainKernel> kernels;  // of the variants
        for (const int chains : chain_counts) {
            const ChainKernel kernel{precision, operation, chains};
            const Kernel<ChainLaunch> function = chain_kernel_of(kernel);
            const int most = resident_blocks(function);
            for (const int each : std::set<int>{most, std::max(1, most / 2), std::max(1, most / 4)}) {
                const int blocks = each * multiprocessors;
                kernels.push_back(kernel);
                variants.push_back({std::to_string(chains) + " chains, " + std::to_string(each * chain_threads) +
                                        " threads per multiprocessor",
                                    work_of_flops(flops_of_step(kernel) * blocks),
                                    function,
                                    {.starts = starts_.data(), .constants = constants_.data(), .blocks = blocks}});
            }
        }
        ends_.emplace(array_for<std::byte>(variants, &ChainLaunch::ends, "ends of the chains", [&](const auto& one) {
            return registers(one.launch.blocks) * register_bytes(precision);
        }));
        kernel_ = kernels[settle_on_fastest(variants, max_steps)];
    }

    void check() override
    {
        run();
        const std::size_t count = static_cast<std::size_t>(kernel_.chains) * chain_threads;
        const std::size_t lanes = static_cast<std::size_t>(lanes_of(kernel_.precision));
        const std::vector<double> ends =
            chain_ends(kernel_, std::span(values_).first(count * lanes), chain_instructions / kernel_.chains / 2);
        const std::vector<std::byte> expected = bytes_of(kernel_.precision, ends);
        for (int block = 0; block < chosen().launch.blocks; ++block) {
            const std::vector<std::byte> found =
                ends_->read(static_cast<std::size_t>(block) * expected.size(), expected.size());
            if (found == expected) continue;
            throw Error("the chains of block " + std::to_string(block) + " do not end where the host's do");
        }
    }

    Bytes memory() const override
    {
        return {static_cast<double>(starts_.bytes() + constants_.bytes() + ends_->bytes())};
    }

  private:
    static std::size_t registers(int blocks) { return static_cast<std::size_t>(blocks) * max_chains * chain_threads; }
    static std::size_t register_bytes(Precision precision)
    {
        return static_cast<std::size_t>(traits(precision).storage_bytes * lanes_of(precision));
    }
    static std::vector<std::byte> bytes_of(Precision precision, std::span<const double> values)
    {
        return encode(format_of(precision), values);
    }

    std::vector<double> values_;  ///< [chain][thread][lane]
    Buffer<std::byte> starts_;
    Buffer<std::byte> constants_;
    std::optional<Buffer<std::byte>> ends_;
    ChainKernel kernel_;  ///< of the chosen variant
};

}  // namespace

std::unique_ptr<Subject> make_chains(const GpuPoint& at)
{
    return std::make_unique<ChainSubject>(at.point.precision(), parse_enum<ChainOperation>(at.point.text("operation")),
                                          at);
}

}  // namespace roof::gpu
