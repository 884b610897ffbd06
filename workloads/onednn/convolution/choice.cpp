#include "workloads/onednn/convolution/passes.hpp"

#include "ert/base/checksum.hpp"
#include "ert/base/error.hpp"
#include "ert/method/bench/clock.hpp"
#include "workloads/engine/choices.hpp"
#include "workloads/kernels/isa/isa.hpp"

#include <algorithm>
#include <memory>
#include <set>

namespace roof::onednn {
namespace {

using Candidates = std::vector<Candidate>;

constexpr std::byte filling{0x3c};  ///< 0.0115 in fp32 and in bf16

/// The candidates as stages of a program, all between the same edges.
class Trials {
  public:
    Trials(const dnnl::engine& engine, const ConvolutionPass& shape, const Candidates& candidates, const Layouts& edges)
        : program_(engine), clock_(steady_clock()), trace_(clock_, candidates.size())
    {
        ConvolutionTensors tensors{.source = program_.tensor(edges.source),
                                   .weights = program_.tensor(edges.weights),
                                   .result = program_.tensor(edges.result)};
        if (shape.bias && shape.pass != Pass::backward_data)
            tensors.bias = program_.tensor(plain({dims_of(edges.result)[1]}));
        for (const Candidate& candidate : candidates) {
            program_.begin(candidate.name, "convolution", Phase::forward);
            append_pass(program_, shape.pass, candidate, tensors);
        }
        program_.place("trying a convolution");
        program_.fill(filling);
    }

    double seconds(std::size_t candidate)
    {
        trace_.reset();
        program_.run_stage(candidate, trace_);
        return trace_.part_seconds()[candidate].value;
    }

  private:
    Program program_;
    Clock clock_;
    Trace trace_;
};

class Chooser {
  public:
    Chooser(const dnnl::engine& engine, ConvolutionPass shape, const Settings& settings, Pass pass)
        : engine_(engine), shape_(shape), settings_(settings), pass_name_(name(pass))
    {
        shape_.pass = pass;
        all_ = candidates(engine, shape_, settings.threads, shape.of_images);
        if (all_.empty()) throw Error("oneDNN has no " + pass_name_ + " pass of a convolution for " + text(shape_));
    }

    const ConvolutionPass& shape() const { return shape_; }

    /// oneDNN's first choice, or its matrix product if the settings ask for gemm.
    const Candidate& default_candidate() const
    {
        return settings_.algorithm == Algorithm::gemm ? first(Algorithm::gemm) : all_.front();
    }

    Candidate choose(const Layouts& edges) const
    {
        if (settings_.algorithm == Algorithm::automatic) return known_or_fastest(pass_name_, all_, edges);
        const Candidate& of_algorithm = first(settings_.algorithm);
        return of_algorithm.algorithm == settings_.algorithm && settings_.algorithm != Algorithm::direct
                   ? of_algorithm
                   : direct(edges);
    }

  private:
    /// The first candidate of an algorithm, or the first of all.
    const Candidate& first(Algorithm algorithm) const
    {
        const auto found = std::ranges::find(all_, algorithm, &Candidate::algorithm);
        return found == all_.end() ? all_.front() : *found;
    }

    /// The fastest of the preferred candidates; without remembered choices the first kernel, and nothing is measured.
    Candidate direct(const Layouts& edges) const
    {
        Candidates preferred = all_;
        std::erase_if(preferred, [](const Candidate& candidate) {
            return !candidate.is_preferred || candidate.algorithm == Algorithm::winograd;
        });
        if (settings_.choices) return known_or_fastest(pass_name_ + ", direct", preferred, edges);
        const auto kernel = std::ranges::find(preferred, true, &Candidate::is_kernel);
        return kernel == preferred.end() ? preferred.front() : *kernel;
    }

    /// Skips candidates whose instruction set is narrower than that of oneDNN's first choice.
    Candidate known_or_fastest(const std::string& pass, Candidates candidates, const Layouts& edges) const
    {
        const int widest = candidates.front().vector_bits;
        std::erase_if(candidates, [&](const Candidate& candidate) {
            return candidate.vector_bits > 0 && candidate.vector_bits < widest;
        });
        if (candidates.size() == 1) return candidates.front();
        const Question asked{text(shape_), pass, std::string(traits(settings_.precision).name), settings_.threads,
                             library_of(all_)};
        const auto prepare = [&]() -> engine::CandidateSeconds {
            const auto trials = std::make_shared<Trials>(engine_, shape_, candidates, edges);
            return [trials](std::size_t candidate) { return trials->seconds(candidate); };
        };
        engine::Choices unkept;
        engine::Choices& choices = settings_.choices ? *settings_.choices : unkept;
        try {
            return candidates[choices.fastest(asked, names_in(candidates), prepare, engine::Undecided::tried_again)];
        } catch (const OutOfMemory&) {
            return candidates.front();  // the network will not fit either; its error reports the required memory
        }
    }

    const dnnl::engine& engine_;
    ConvolutionPass shape_;
    const Settings& settings_;
    std::string pass_name_;
    Candidates all_;
};

}  // namespace

std::string library_of(std::span<const Candidate> candidates)
{
    std::set<std::string> names;  // oneDNN may offer an implementation twice
    for (const Candidate& candidate : candidates) names.insert(candidate.name);
    BlockSum sum;
    for (const std::string& name : names) sum.add_line(name);
    return library_version() + " + " + std::string(name(kernels::widest_isa())) + ", " + std::to_string(names.size()) +
           " candidates " + sum.text();
}

ir::Choice Convolutions::choose(const ConvolutionPass& shape)
{
    if (const auto known = numbers_.find(shape); known == numbers_.end()) {
        converting_errors(text(shape), [&] {
            const Chooser forward(engine_, shape, settings_, Pass::forward);
            const Chooser backward_weights(engine_, shape, settings_, Pass::backward_weights);
            const Layouts edges{.source = forward.default_candidate().layouts.source,
                                .weights = backward_weights.default_candidate().layouts.weights,
                                .result = forward.default_candidate().layouts.result};
            const auto add = [&](const Chooser& chooser) {
                numbers_.emplace(chooser.shape(), static_cast<int>(plans_.size()));
                plans_.push_back({chooser.choose(edges), edges});
            };
            add(forward);
            add(backward_weights);
            if (!shape.of_images) add(Chooser(engine_, shape, settings_, Pass::backward_data));
        });
    }
    const int plan = numbers_.at(shape);
    const Candidate& chosen = (*this)[plan].candidate;
    return {.plan = plan,
            .implementation = chosen.name,
            .algorithm = std::string(name(chosen.algorithm)),
            .executed = chosen.executed,
            .refetched = chosen.refetched};
}

}  // namespace roof::onednn
