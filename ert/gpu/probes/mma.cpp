#include "ert/gpu/probes/mma.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/probes/mma_operands.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>

namespace roof::gpu {

namespace {

constexpr long long most_steps = 1 << 24;
constexpr int warps_of_block = mma_threads / 32;

struct Candidate {
    Mma instruction = Mma::fp16;
    int chains = 4;
    int blocks_each = 1;  ///< of a multiprocessor
};

std::vector<Candidate> candidates_for(const std::vector<Mma>& instructions)
{
    std::vector<Candidate> candidates;
    for (const Mma instruction : instructions) {
        for (const int chains : mma_chain_counts) {
            const int most = resident_mma_blocks(instruction, chains);
            for (const int blocks : std::set<int>{most, std::max(1, most / 2), std::max(1, most / 4)})
                candidates.push_back({instruction, chains, blocks});
        }
    }
    return candidates;
}

std::size_t sum_bytes(const Candidate& candidate)
{
    const MmaShape shape = shape_of(candidate.instruction);
    return static_cast<std::size_t>(candidate.chains) * 32 * shape.sum_registers * shape.register_bytes;
}

class MmaSubject final : public Subject {
  public:
    MmaSubject(const std::vector<Mma>& instructions, DeviceId id, std::shared_ptr<const Nvml> nvml)
        : stream_(id, std::move(nvml)), multiprocessors_(attribute(id, cudaDevAttrMultiProcessorCount))
    {
        const std::vector<Candidate> candidates = candidates_for(instructions);
        std::size_t most = 0;
        for (const Candidate& candidate : candidates)
            most = std::max(most, sum_bytes(candidate) * static_cast<std::size_t>(warps_of(candidate)));
        sums_.emplace(most, "sums of the products");
        choose(candidates);
        give(chosen_.instruction, Numbers::busy);
        settle();
    }

    Work work() const override
    {
        const double blocks = 1.0 * multiprocessors_ * chosen_.blocks_each;
        return {
            Flops{flops_of_step(chosen_.instruction) * blocks * static_cast<double>(steps_)}, {}, {}, Known::analytic};
    }

    void launch(Trace& trace) override
    {
        stream_.launch(trace, [this] { enqueue(chosen_, steps_); });
    }

    void check() override
    {
        give(chosen_.instruction, Numbers::telling);
        stream_.time([this] { enqueue(chosen_, 1); });
        const std::vector<std::byte> due =
            lanes_of_sums(chosen_.instruction, chosen_.chains, mma_operands(chosen_.instruction, Numbers::telling), 1);
        const auto warps = static_cast<std::size_t>(warps_of(chosen_));
        const std::vector<std::byte> found = sums_->read(0, warps * due.size());  // at once: there are thousands
        for (std::size_t warp = 0; warp < warps; ++warp) {
            if (std::ranges::equal(std::span(found).subspan(warp * due.size(), due.size()), due)) continue;
            throw Error("the sums of warp " + std::to_string(warp) + " are not those of the host");
        }
        give(chosen_.instruction, Numbers::busy);
    }

    std::string variant() const override
    {
        const MmaShape shape = shape_of(chosen_.instruction);
        return "m" + std::to_string(shape.m) + "n" + std::to_string(shape.n) + "k" + std::to_string(shape.k) + ", " +
               std::to_string(chosen_.chains) + " chains, " + std::to_string(chosen_.blocks_each * warps_of_block) +
               " warps per multiprocessor";
    }
    std::vector<std::string> remarks() const override { return stream_.remarks(); }
    Bytes memory() const override { return {static_cast<double>(a_->bytes() + b_->bytes() + sums_->bytes())}; }

  private:
    int warps_of(const Candidate& candidate) const { return multiprocessors_ * candidate.blocks_each * warps_of_block; }

    void give(Mma instruction, Numbers numbers)
    {
        const MmaOperands operands = mma_operands(instruction, numbers);
        const std::vector<std::byte> a = lanes_of_a(instruction, operands);
        const std::vector<std::byte> b = lanes_of_b(instruction, operands);
        a_.emplace(a.size(), "operands A");
        b_.emplace(b.size(), "operands B");
        a_->write(a);
        b_->write(b);
    }

    void enqueue(const Candidate& candidate, long long steps) const
    {
        enqueue_mma(candidate.instruction, candidate.chains,
                    {.a = a_->data(),
                     .b = b_->data(),
                     .sums = sums_->data(),
                     .reading = stream_.reading(),
                     .blocks = multiprocessors_ * candidate.blocks_each,
                     .steps = static_cast<int>(steps)},
                    stream_.get());
    }

    /// Instructions differ in what they are given, so each is tuned on its own, and the best of them compared.
    void choose(const std::vector<Candidate>& candidates)
    {
        double best = 0;
        for (std::size_t first = 0; first < candidates.size();) {
            std::vector<Candidate> alike;
            std::vector<Way> ways;
            const Mma instruction = candidates[first].instruction;
            for (; first < candidates.size() && candidates[first].instruction == instruction; ++first) {
                const Candidate candidate = candidates[first];
                alike.push_back(candidate);
                ways.push_back({"", flops_of_step(instruction) * candidate.blocks_each,
                                [this, candidate](long long steps) { enqueue(candidate, steps); }});
            }
            give(instruction, Numbers::busy);
            const Tuned tuned = tune(stream_, ways, most_steps);
            const Seconds taken = stream_.time([&] { ways[tuned.way].enqueue(tuned.repeats); });
            const double rate = ways[tuned.way].work * static_cast<double>(tuned.repeats) / taken.value;
            if (rate <= best) continue;
            best = rate;
            chosen_ = alike[tuned.way];
            steps_ = tuned.repeats;
        }
    }

    void settle()
    {
        stream_.settle([this] { enqueue(chosen_, steps_); });
    }

    MonitoredStream stream_;
    int multiprocessors_;
    std::optional<Buffer<std::byte>> a_;
    std::optional<Buffer<std::byte>> b_;
    std::optional<Buffer<std::byte>> sums_;
    Candidate chosen_;
    long long steps_ = 1;
};

}  // namespace

std::vector<Mma> mma_instructions_for(Precision precision, bool is_e5m2, int capability)
{
    switch (precision) {
        case Precision::fp64:
            return capability >= 90 ? std::vector<Mma>{Mma::fp64_small, Mma::fp64} : std::vector<Mma>{Mma::fp64_small};
        case Precision::tf32:
            return {Mma::tf32};
        case Precision::fp16:
            return {Mma::fp16};
        case Precision::bf16:
            return {Mma::bf16};
        case Precision::int8:
            return {Mma::int8};
        case Precision::fp8:
            return {is_e5m2 ? Mma::e5m2 : Mma::e4m3};
        default:
            return {};
    }
}

double flops_of_step(Mma instruction)
{
    const MmaShape shape = shape_of(instruction);
    return 2.0 * shape.m * shape.n * shape.k * mma_instructions * warps_of_block;
}

std::unique_ptr<Subject> make_mma(Precision precision, bool is_e5m2, int capability, DeviceId id,
                                  std::shared_ptr<const Nvml> nvml)
{
    const CurrentDevice current(id);
    return std::make_unique<MmaSubject>(mma_instructions_for(precision, is_e5m2, capability), id, std::move(nvml));
}

}  // namespace roof::gpu
