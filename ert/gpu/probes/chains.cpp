#include "ert/gpu/probes/chains.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/formats.hpp"
#include "ert/gpu/probes/chain_reference.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace roof::gpu {

namespace {

constexpr int most_chains = *std::ranges::max_element(chain_counts);
constexpr long long most_steps = 1 << 24;

/// A kernel and how many of its blocks a multiprocessor is given at once.
struct Candidate {
    ChainKernel kernel;
    int blocks_each = 1;
};

std::vector<Candidate> candidates_for(Precision precision, ChainOperation operation)
{
    std::vector<Candidate> candidates;
    for (const int chains : chain_counts) {
        const ChainKernel kernel{precision, operation, chains};
        const int most = resident_chain_blocks(kernel);
        for (const int blocks : std::set<int>{most, std::max(1, most / 2), std::max(1, most / 4)})
            candidates.push_back({kernel, blocks});
    }
    return candidates;
}

class ChainSubject final : public Subject {
  public:
    ChainSubject(Precision precision, ChainOperation operation, DeviceId id, std::shared_ptr<const Nvml> nvml)
        : stream_(id, std::move(nvml)),
          multiprocessors_(attribute(id, cudaDevAttrMultiProcessorCount)),
          values_(chain_starts(precision, registers(1) * static_cast<std::size_t>(lanes_of(precision)))),
          starts_(bytes_of(precision, values_).size(), "starting values of the chains"),
          constants_(4 * register_bytes(precision), "constants of the chains")
    {
        starts_.write(bytes_of(precision, values_));
        std::vector<double> constants;
        for (const double value : chain_constants({precision, operation, most_chains}))
            constants.insert(constants.end(), static_cast<std::size_t>(lanes_of(precision)), value);
        constants_.write(bytes_of(precision, constants));
        const std::vector<Candidate> candidates = candidates_for(precision, operation);
        const auto most = std::ranges::max_element(candidates, {}, &Candidate::blocks_each);
        ends_.emplace(registers(multiprocessors_ * most->blocks_each) * register_bytes(precision),
                      "ends of the chains");
        choose(candidates);
    }

    Work work() const override
    {
        return {Flops{flops_of_step(chosen_.kernel) * blocks() * static_cast<double>(steps_)}, {}, {}, Known::analytic};
    }

    void launch(Trace& trace) override
    {
        stream_.launch(trace, [this] { enqueue(chosen_, steps_); });
    }

    void check() override
    {
        const ChainKernel& kernel = chosen_.kernel;
        stream_.time([this] { enqueue(chosen_, 1); });
        const std::size_t count = static_cast<std::size_t>(kernel.chains) * chain_threads;
        const std::size_t lanes = static_cast<std::size_t>(lanes_of(kernel.precision));
        const std::vector<double> ends =
            chain_ends(kernel, std::span(values_).first(count * lanes), chain_instructions / kernel.chains / 2);
        const std::vector<std::byte> due = bytes_of(kernel.precision, ends);
        for (int block = 0; block < blocks(); ++block) {
            if (ends_->read(static_cast<std::size_t>(block) * due.size(), due.size()) == due) continue;
            throw Error("the chains of block " + std::to_string(block) + " do not end where the host's do");
        }
    }

    std::string variant() const override
    {
        return std::to_string(chosen_.kernel.chains) + " chains, " +
               std::to_string(chosen_.blocks_each * chain_threads) + " threads per multiprocessor";
    }
    std::vector<std::string> remarks() const override { return stream_.remarks(); }
    Bytes memory() const override
    {
        return {static_cast<double>(starts_.bytes() + constants_.bytes() + ends_->bytes())};
    }

  private:
    static std::size_t registers(int blocks) { return static_cast<std::size_t>(blocks) * most_chains * chain_threads; }
    static std::size_t register_bytes(Precision precision)
    {
        return static_cast<std::size_t>(traits(precision).storage_bytes * lanes_of(precision));
    }
    static std::vector<std::byte> bytes_of(Precision precision, std::span<const double> values)
    {
        return encode(format_of(precision), values);
    }

    int blocks() const { return multiprocessors_ * chosen_.blocks_each; }

    void enqueue(const Candidate& candidate, long long steps) const
    {
        enqueue_chains(candidate.kernel,
                       {.starts = starts_.data(),
                        .constants = constants_.data(),
                        .ends = ends_->data(),
                        .reading = stream_.reading(),
                        .blocks = multiprocessors_ * candidate.blocks_each,
                        .steps = static_cast<int>(steps)},
                       stream_.get());
    }

    void choose(const std::vector<Candidate>& candidates)
    {
        std::vector<Way> ways;
        for (const Candidate& candidate : candidates) {
            ways.push_back({"", flops_of_step(candidate.kernel) * candidate.blocks_each,
                            [this, candidate](long long steps) { enqueue(candidate, steps); }});
        }
        const Tuned tuned = tune(stream_, ways, most_steps);
        chosen_ = candidates[tuned.way];
        steps_ = tuned.repeats;
    }

    MonitoredStream stream_;
    int multiprocessors_;
    std::vector<double> values_;  ///< [chain][thread][lane]
    Buffer<std::byte> starts_;
    Buffer<std::byte> constants_;
    std::optional<Buffer<std::byte>> ends_;
    Candidate chosen_;
    long long steps_ = 1;
};

}  // namespace

double flops_of_step(const ChainKernel& kernel)
{
    const int each = kernel.operation == ChainOperation::fma ? 2 : 1;
    return 1.0 * each * lanes_of(kernel.precision) * chain_instructions * chain_threads;
}

ChainOperation parse_chain_operation(std::string_view word)
{
    if (word == "fma") return ChainOperation::fma;
    if (word == "add") return ChainOperation::add;
    if (word == "mul") return ChainOperation::mul;
    throw InputError("unknown operation '" + std::string(word) + "'");
}

std::unique_ptr<Subject> make_chains(Precision precision, ChainOperation operation, DeviceId id,
                                     std::shared_ptr<const Nvml> nvml)
{
    const CurrentDevice current(id);
    return std::make_unique<ChainSubject>(precision, operation, id, std::move(nvml));
}

}  // namespace roof::gpu
