// Chooses and runs cuDNN's plans for a step: of passes of convolutions, alone or with what is around them, of batch
// norms and of attention. What is fastest is found by a trial (trial.hpp) and kept in the file of choices.
#pragma once

#include "ert/gpu/stream.hpp"
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/library/candidates.hpp"
#include "workloads/cudnn/library/products.hpp"
#include "workloads/engine/ir/program.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace roof::cudnn {

class Trial;

using NumberedPlans = std::vector<std::optional<PlannedEngine>>;

/// Binds operations to plans by their numbers.
class PlansByNumber {
  public:
    /// Both must outlive it.
    PlansByNumber(const NumberedPlans& plans, const Handle& handle) : plans_(plans), handle_(handle) {}

    /// Return a function that enqueues the operation in the handle's stream.
    std::function<void()> bound(const Convolve& operation, const Memory& memory) const;
    std::function<void()> bound(const LibraryNorm& operation, const Memory& memory) const;
    std::function<void()> bound(const LibraryNormGradient& operation, const Memory& memory) const;
    /// An empty one for an operation without a plan.
    std::function<void()> bound(const Attention& operation, const Memory& memory) const;
    std::function<void()> bound(const AttentionGradient& operation, const Memory& memory) const;

  private:
    std::function<void()> running(int number, std::vector<Address> addresses, void* workspace) const;

    const NumberedPlans& plans_;
    const Handle& handle_;
};

class Plans {
  public:
    /// Choices are kept per `device_model` and version of the library. The stream and the products must outlive this
    /// object.
    Plans(const gpu::Stream& stream, const Settings& settings, std::string device_model, Products& products);

    /// Throws Unsupported if no engine can compute the shape.
    Choice choose(const ConvolutionPass& shape);
    /// Return no plan if our kernels are the fastest or the only ones, or if no engine's results match theirs.
    Choice choose(const NormShape& shape);
    Choice choose(const AttentionPass& pass);
    /// Returns whether both passes of the first convolution, which reads images, take less time by space_to_depth().
    bool reads_by_depth(const ConvolutionPass& first);
    /// Returns whether moments (engine/passes/passes.hpp) are faster for the batch norm behind this 1x1 convolution
    /// than passes over the map between them, and give the same values. Without trials: what the settings say.
    bool takes_moments(const ConvolutionPass& forward);
    /// All of these, with the products.
    Choosers choosers()
    {
        Choosers all{[this](const ConvolutionPass& shape) { return choose(shape); },
                     [this](const Product& product) { return products_.choose(product); },
                     [this](const NormShape& shape) { return choose(shape); },
                     [this](const ConvolutionPass& first) { return reads_by_depth(first); },
                     [this](const ConvolutionPass& forward) { return takes_moments(forward); },
                     [this](const AttentionPass& pass) { return choose(pass); }};
        all.outputs_multiple = 8;
        all.narrow_logits = true;
        all.fuses_positions = true;
        all.attention_blocks = cached_attention_blocks();
        return all;
    }

    /// Those that were chosen.
    PlansByNumber by_number() const { return {chosen_, handle_}; }

  private:
    using AnyShape = std::variant<ConvolutionPass, NormShape, AttentionPass>;

    engine::Question question(const std::string& shape, std::string_view pass, Precision precision) const;
    std::size_t fastest(const engine::Question& asked, const std::vector<std::string>& names,
                        const NumberedPlans& plans, const std::function<void(Trial&)>& write) const;
    std::size_t fastest_or_first(const engine::Question& asked, const std::vector<std::string>& names,
                                 const NumberedPlans& plans, const std::function<void(Trial&)>& write);
    std::optional<PlannedEngine> fastest_bare(const ConvolutionPass& shape) const;
    std::optional<PlannedEngine> fastest_whole(const ConvolutionPass& shape);
    template <class Shape>
    Choice choose_or_ours(const Shape& shape, bool is_fused);
    static std::optional<Choice> by_products(const NormShape&) { return {}; }
    /// None if there are no such products or their workspace takes too much memory.
    std::optional<Choice> by_products(const AttentionPass& pass) const;
    Choice keep(const AnyShape& shape, const PlannedEngine& candidate, bool is_fused);

    const gpu::Stream& stream_;
    Settings settings_;
    std::string device_model_;
    Products& products_;
    Handle handle_{stream_.get()};
    Descriptor device_ = current_device();
    std::map<AnyShape, Choice> known_;
    std::set<engine::Question> impossible_;  ///< trials that could not be made
    NumberedPlans chosen_;
};

}  // namespace roof::cudnn
