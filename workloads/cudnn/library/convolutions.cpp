#include "workloads/cudnn/library/convolutions.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/check.hpp"
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/library/trial_time.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace roof::cudnn {
namespace {

constexpr const char* in_two = "an engine without bias and ReLU";  ///< in the file of choices

struct Addresses {
    void* source = nullptr;
    void* weights = nullptr;
    void* result = nullptr;
    void* bias = nullptr;
    void* workspace = nullptr;
};

Descriptor pack(const Addresses& at)
{
    std::vector<Address> all{{number_source, at.source}, {number_weights, at.weights}, {number_result, at.result}};
    if (at.bias != nullptr) all.push_back({number_bias, at.bias});
    return address_pack(all, at.workspace);
}

/// Memory for trials of candidates: the tensors of a pass, and a workspace.
class Bench {
  public:
    explicit Bench(const ConvolutionShape& shape)
        : bytes_each_(static_cast<std::size_t>(traits(shape.precision).storage_bytes)),
          source_(bytes(shape.batch * shape.source.elements()), "trying a convolution"),
          weights_(bytes(shape.source.channels * shape.result.channels * 1LL * shape.window.size * shape.window.size),
                   "trying a convolution"),
          result_(bytes(shape.batch * shape.result.elements()), "trying a convolution"),
          bias_(bytes(shape.result.channels), "trying a convolution"),
          has_bias_(shape.bias)
    {
        constexpr int filling = 0x3c;  // 0.0115 in fp32 and bf16, 1.06 in fp16
        for (const gpu::Buffer<std::byte>* buffer : {&source_, &weights_, &result_, &bias_})
            gpu::check(cudaMemset(buffer->data(), filling, buffer->bytes()));
        gpu::check(cudaDeviceSynchronize());
    }

    /// Returns the addresses, with a workspace of at least that size.
    Addresses addresses(std::size_t workspace)
    {
        if (workspace > 0 && (!workspace_ || workspace_->bytes() < workspace)) {
            workspace_.reset();
            workspace_ = std::make_unique<gpu::Buffer<std::byte>>(workspace, "trying a convolution");
        }
        return {source_.data(), weights_.data(), result_.data(), has_bias_ ? bias_.data() : nullptr,
                workspace_ ? workspace_->data() : nullptr};
    }

  private:
    std::size_t bytes(long long elements) const { return static_cast<std::size_t>(elements) * bytes_each_; }

    std::size_t bytes_each_;
    gpu::Buffer<std::byte> source_, weights_, result_, bias_;
    std::unique_ptr<gpu::Buffer<std::byte>> workspace_;
    bool has_bias_;
};

/// Limit for scratch memory: larger batches need the rest.
std::size_t workspace_limit()
{
    std::size_t available = 0;
    std::size_t total = 0;
    gpu::check(cudaMemGetInfo(&available, &total));
    return available / 8;
}

ConvolutionShape without_epilogue(ConvolutionShape shape)
{
    shape.bias = shape.relu = false;
    return shape;
}

/// Limit for the trials of one shape, by number and time. The heuristics list the most likely engines first.
class TrialBudget {
  public:
    bool is_spent() const { return tried_ >= least_tried && steady_clock::now() - begin_ > most_time; }
    /// Compiling an engine takes a good part of a second, so only the first such engine is tried.
    bool takes(const EngineNotes& notes)
    {
        if (notes.compiled_at_run_time && ++compiled_ > most_compiled) return false;
        ++tried_;
        return true;
    }

  private:
    using steady_clock = std::chrono::steady_clock;
    static constexpr int least_tried = 2;
    static constexpr int most_compiled = 1;
    static constexpr std::chrono::milliseconds most_time{250};

    steady_clock::time_point begin_ = steady_clock::now();
    int tried_ = 0;
    int compiled_ = 0;
};

}  // namespace

Convolutions::Convolutions(const gpu::Stream& stream, const Settings& settings,
                           std::shared_ptr<engine::Choices> choices, std::string device_model)
    : stream_(stream),
      settings_(settings),
      choices_(std::move(choices)),
      device_model_(std::move(device_model)),
      handle_(stream.get()),
      device_(current_device())
{
}

Choice Convolutions::choose(const ConvolutionShape& shape)
{
    const auto [place, is_new] =
        plans_.try_emplace(shape.text() + " " + std::string(name(shape.pass)), static_cast<int>(chosen_.size()));
    if (is_new) {
        chosen_.push_back(find(shape));
        chosen_.back().choice.plan = place->second;
    }
    return chosen_[static_cast<std::size_t>(place->second)].choice;
}

/// Chooses an engine with bias and ReLU if that is the fastest, else one without.
Convolutions::Chosen Convolutions::find(const ConvolutionShape& shape)
{
    if (shape.bias || shape.relu) {
        if (const std::optional<Chosen> fused = find_fused(shape)) return *fused;
    }
    const ConvolutionShape bare = without_epilogue(shape);
    const std::vector<Engine> engines = allowed_engines(bare, settings_, device_);
    std::optional<Candidate> best = settings_.tune ? remembered(bare, engines) : first(engines);
    if (!best && settings_.tune) {
        if (const std::optional<Tried> tried = fastest(bare, engines)) best = tried->candidate;
    }
    if (best) return {choice_of(*best, !shape.bias && !shape.relu), *best};
    throw Unsupported("cuDNN " + library_version() + " has no engine for the " + std::string(name(shape.pass)) +
                      " pass of " + shape.text() + " in " + std::string(traits(settings_.precision).name) +
                      (settings_.deterministic ? ", the same bits each time" : "") + " on this GPU");
}

/// Nothing if no engine computes bias and ReLU, too, or if one without and our kernel behind it are faster.
std::optional<Convolutions::Chosen> Convolutions::find_fused(const ConvolutionShape& shape)
{
    const auto chosen = [](const Candidate& candidate) { return Chosen{choice_of(candidate, true), candidate}; };
    if (choices_ && settings_.tune && choices_->find(question(shape)) == in_two) return std::nullopt;
    const std::vector<Engine> engines = allowed_engines(shape, settings_, device_);
    if (!settings_.tune) {
        const std::optional<Candidate> one = first(engines);
        return one ? std::optional(chosen(*one)) : std::nullopt;
    }
    if (const std::optional<Candidate> known = remembered(shape, engines)) return chosen(*known);
    const std::optional<Tried> fused = fastest(shape, engines);
    if (!fused) return std::nullopt;
    const ConvolutionShape bare = without_epilogue(shape);
    const std::optional<Tried> apart = fastest(bare, allowed_engines(bare, settings_, device_));
    const Seconds in_all = apart ? apart->seconds + time_of_epilogue(shape) : fused->seconds;
    if (in_all >= fused->seconds) return chosen(fused->candidate);
    if (choices_) choices_->remember(question(shape), in_two, in_all);
    return std::nullopt;
}

Seconds Convolutions::time_of_epilogue(const ConvolutionShape& shape) const
{
    Program program;
    const AddBias epilogue{
        .values = program.resident({.batch = shape.batch,
                                    .channels = shape.result.channels,
                                    .height = shape.result.height,
                                    .width = shape.result.width,
                                    .precision = settings_.storage()}),
        .bias = program.resident({.batch = 1, .channels = shape.result.channels, .precision = settings_.storage()}),
        .relu = shape.relu};
    const gpu::Buffer<std::byte> bytes(program.place(), "trying a convolution");
    gpu::check(cudaMemset(bytes.data(), 0, bytes.bytes()));
    gpu::check(cudaDeviceSynchronize());
    const Memory memory(program, bytes.data());
    return least_time(
        stream_, [&] { enqueue(epilogue, memory, stream_.get()); }, Seconds{1e9});
}

engine::Question Convolutions::question(const ConvolutionShape& shape) const
{
    return {shape.text(), std::string(name(shape.pass)), std::string(traits(shape.precision).name), 1,
            chooser_of(settings_, device_model_)};
}

/// Returns the fastest of an earlier run if it is among the engines. Makes no other plan.
std::optional<Candidate> Convolutions::remembered(const ConvolutionShape& shape, const std::vector<Engine>& among) const
{
    const auto known = choices_ ? choices_->find(question(shape)) : std::nullopt;
    if (!known) return std::nullopt;
    const auto found = std::ranges::find_if(among, [&](const Engine& engine) { return engine.name == *known; });
    if (found == among.end()) return std::nullopt;
    const std::vector<Candidate> planned = candidates({*found}, device_);
    return planned.empty() ? std::nullopt : std::optional(planned.front());
}

/// Returns the first candidate in the library's order without timing; engines that need no compilation come first.
std::optional<Candidate> Convolutions::first(std::vector<Engine> among) const
{
    std::ranges::stable_partition(among, [](const Engine& engine) { return !engine.notes.compiled_at_run_time; });
    for (const Engine& engine : among) {
        const std::vector<Candidate> planned = candidates({engine}, device_);
        if (!planned.empty()) return planned.front();
    }
    return std::nullopt;
}

/// Returns the fastest candidate of timed trials. Engines that fail are skipped; empty if all fail.
std::optional<Convolutions::Tried> Convolutions::fastest(const ConvolutionShape& shape,
                                                         const std::vector<Engine>& among)
{
    if (among.empty()) return std::nullopt;
    const std::size_t limit = workspace_limit();
    Bench bench(shape);
    TrialBudget budget;
    std::optional<Tried> best;
    Seconds least{std::numeric_limits<double>::infinity()};
    for (const Engine& engine : among) {
        if (budget.is_spent()) break;
        if (!budget.takes(engine.notes)) continue;
        const std::vector<Candidate> planned = candidates({engine}, device_);
        if (planned.empty()) continue;
        const Candidate& one = planned.front();
        const auto workspace = static_cast<std::size_t>(one.plan.workspace);
        if (workspace > limit) continue;
        const Descriptor addresses = pack(bench.addresses(workspace));
        const auto run = [&] {
            check(cudnnBackendExecute(handle_.get(), one.plan.descriptor.get(), addresses.get()), one.engine.name);
        };
        const Seconds seconds = least_time(stream_, run, least);
        if (seconds >= least) continue;
        best = Tried{one, seconds};
        least = seconds;
    }
    if (best && choices_) choices_->remember(question(shape), best->candidate.engine.name, least);
    return best;
}

std::function<void()> Convolutions::bound(const Convolve& operation, const Memory& memory) const
{
    const Candidate& candidate = chosen_[static_cast<std::size_t>(operation.plan)].candidate;
    const Descriptor addresses =
        pack({memory.at(operation.source), memory.at(operation.weights), memory.at(operation.result),
              memory.at(operation.bias), memory.at(operation.workspace)});
    return [addresses, plan = candidate.plan.descriptor, handle = handle_.get(), engine = candidate.engine.name] {
        check(cudnnBackendExecute(handle, plan.get(), addresses.get()), engine);
    };
}

}  // namespace roof::cudnn
