// Subjects of the "flops" bench on the CUDA cores.
//
// Launched    one kernel of whole waves of resident blocks; each thread runs independent chains of one kind of
//             instruction over a run-time number of steps. The numbers of chains and of blocks at once are found by
//             trying.
// Saturates   the pipe of that instruction and precision. Operands are in registers.
// FLOPs       2 per multiply-add, 1 per addition, multiplication, exponential or logarithm, in each lane; in fp16 and
//             bf16 a register has two lanes. Loop counters are not counted: 3 instructions of some 515.
// Time        device events; the kernel itself reads the clock.
// Falsified   if one bit of any chain of any thread differs from the host's (of exponentials, which are approximate: a
//             thousandth); if the machine code of the loop has other
//             instructions than those counted; if more chains or threads raise the rate.
#include "ert/gpu/kernels/chains.hpp"

#include "ert/base/error.hpp"
#include "ert/base/formats.hpp"
#include "ert/gpu/probes/chain_reference.hpp"
#include "ert/gpu/probes/flops_subjects.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace roof::gpu {

namespace {

constexpr int max_chains = *std::ranges::max_element(chain_counts);
constexpr long long max_steps = 1 << 24;

struct ChainChoice {
    ChainKernel kernel;
    int blocks{};  ///< of the whole GPU
};

std::vector<ChainChoice> candidates_for(Precision precision, ChainOperation operation, int multiprocessors)
{
    std::vector<ChainChoice> candidates;
    for (const int chains : chain_counts) {
        const ChainKernel kernel{precision, operation, chains};
        const int most = resident_blocks(chain_kernel_of(kernel));
        for (const int each : std::set<int>{most, std::max(1, most / 2), std::max(1, most / 4)})
            candidates.push_back({kernel, each * multiprocessors});
    }
    return candidates;
}

/// FLOPs of all threads of one block in one step.
double flops_of_step(const ChainKernel& kernel)
{
    const int each = kernel.operation == ChainOperation::fma ? 2 : 1;
    return 1.0 * each * lanes_of(kernel.precision) * chain_instructions * chain_threads;
}

ChainOperation parse_chain_operation(const std::string& name)
{
    if (name == "fma") return ChainOperation::fma;
    if (name == "add") return ChainOperation::add;
    if (name == "mul") return ChainOperation::mul;
    if (name == "exp") return ChainOperation::exp;
    throw InputError("unknown operation '" + name + "'");
}

class ChainSubject final : public TunedSubject {
  public:
    ChainSubject(Precision precision, ChainOperation operation, const GpuPoint& at)
        : TunedSubject(at),
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
        const std::vector<ChainChoice> candidates = candidates_for(precision, operation, multiprocessors);
        const auto most = std::ranges::max_element(candidates, {}, &ChainChoice::blocks);
        ends_.emplace(registers(most->blocks) * register_bytes(precision), "ends of the chains");
        std::vector<Variant> variants;
        for (const ChainChoice& candidate : candidates) {
            const int threads = candidate.blocks / multiprocessors * chain_threads;
            variants.push_back({std::to_string(candidate.kernel.chains) + " chains, " + std::to_string(threads) +
                                    " threads per multiprocessor",
                                work_of_flops(flops_of_step(candidate.kernel) * candidate.blocks),
                                [this, candidate](long long steps) { enqueue(candidate, steps); }});
        }
        chosen_ = candidates[settle_on_fastest(variants, max_steps)];
    }

    void check() override
    {
        const ChainKernel& kernel = chosen_.kernel;
        run();
        const std::size_t count = static_cast<std::size_t>(kernel.chains) * chain_threads;
        const std::size_t lanes = static_cast<std::size_t>(lanes_of(kernel.precision));
        const std::vector<double> ends =
            chain_ends(kernel, std::span(values_).first(count * lanes), chain_instructions / kernel.chains / 2);
        const std::vector<std::byte> expected = bytes_of(kernel.precision, ends);
        for (int block = 0; block < chosen_.blocks; ++block) {
            const std::vector<std::byte> found =
                ends_->read(static_cast<std::size_t>(block) * expected.size(), expected.size());
            if (are_chain_ends(kernel, found, expected)) continue;
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

    void enqueue(const ChainChoice& candidate, long long steps) const
    {
        gpu::enqueue(chain_kernel_of(candidate.kernel),
                     {.starts = starts_.data(),
                      .constants = constants_.data(),
                      .ends = ends_->data(),
                      .reading = stream().reading(),
                      .blocks = candidate.blocks,
                      .steps = static_cast<int>(steps)},
                     stream().get());
    }

    std::vector<double> values_;  ///< [chain][thread][lane]
    Buffer<std::byte> starts_;
    Buffer<std::byte> constants_;
    std::optional<Buffer<std::byte>> ends_;
    ChainChoice chosen_;
};

}  // namespace

std::unique_ptr<Subject> make_chains(const GpuPoint& at)
{
    const ChainOperation operation = parse_chain_operation(at.point.text("operation"));
    return std::make_unique<ChainSubject>(at.point.precision(), operation, at);
}

}  // namespace roof::gpu
