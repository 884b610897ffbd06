// An operation of a training step on the emulated device beside the host's loops, from the same memory. What an
// operation does not write may not change.
#pragma once

#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/engine/layers/host_training.hpp"
#include "tests/engine/layers/host_values.hpp"
#include "workloads/cudnn/kernels/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace roof::cudnn {

using emulated::Array;

/// What an operation writes, and the scratch memory whose content means nothing after it.
struct Results {
    std::vector<Tensor> values, bytes, scratch;
    std::vector<Tensor> fresh{};  ///< of the values: written without being read, and nearly what they were
};

inline Results results_of(const ImportImages& op)
{
    return {{op.to}, {op.labels}, {}};
}
inline Results results_of(const ClearUnused& op)
{
    return {{op.gradient}, {}, {}};
}
inline Results results_of(const AddBias& op)
{
    return {{op.values}, {}, {}};
}
inline Results results_of(const Statistics& op)
{
    return {{op.channels.mean, op.channels.inverse_deviation, op.channels.scale, op.channels.shift, op.running_mean,
             op.running_variance},
            {},
            {op.partial}};
}
inline Results results_of(const ReduceGradient& op)
{
    return {
        {op.result, op.sum, op.sum_of_products, op.other_norm.sum, op.other_norm.sum_of_products}, {}, {op.partial}};
}
inline Results results_of(const NormGradient& op)
{
    return {{op.result, op.other_norm.result}, {}, {}};
}
inline Results results_of(const AttendCached& op)
{
    return {{op.cache, op.result}, {}, {op.partial}};
}
inline Results results_of(const Embed& op)
{
    return {{op.result}, {}, {}};
}
inline Results results_of(const EmbedGradient& op)
{
    return {{op.weights}, {}, {}};
}
inline Results results_of(const AddPositions& op)
{
    return {{op.result}, {}, {}};
}
inline Results results_of(const TakePositions& op)
{
    return {{op.result}, {}, {}};
}
inline Results results_of(const AddPositionsGradient& op)
{
    return {{op.weights}, {}, {}};
}
inline Results results_of(const Attention& op)
{
    return {{op.result, op.sums}, {}, {}};
}
inline Results results_of(const AttentionGradient& op)
{
    return {{op.to_source, op.products, op.to_rows}, {}, {}};
}
inline Results results_of(const LayerNorm& op)
{
    return {{op.result, op.sum, op.mean, op.inverse_deviation}, {}, {}};
}
inline Results results_of(const LayerNormGradient& op)
{
    return {{op.result, op.sum, op.sum_of_products}, {}, {op.partial}};
}
inline Results results_of(const MaxPool& op)
{
    return {{op.result}, {op.winners}, {}};
}
inline Results results_of(const MaxPoolGradient& op)
{
    return {{op.source}, {}, {}};
}
inline Results results_of(const AveragePoolGradient& op)
{
    return {{op.source}, {}, {}};
}
inline Results results_of(const ResizeGradient& op)
{
    return {{op.source}, {}, {}};
}
inline Results results_of(const CopyChannels&)
{
    return {};  // the same bits
}
inline Results results_of(const ScaleGradient& op)
{
    return {{op.to_source, op.to_factor}, {}, {}};
}
inline Results results_of(const Loss& op)
{
    return {{op.gradient}, {}, {op.row_losses}};  // the loops keep no loss of a row
}
inline Results results_of(const Normalise& op)
{
    return {{op.result}, {op.signs}, {}};
}
inline Results results_of(const Widen& op)
{
    return {op.to, {}, {}};
}
inline Results results_of(const Covariance& op)
{
    return {{op.halves, op.mean, op.factor}, {}, {}};
}
inline Results results_of(const MomentStatistics& op)
{
    return {{op.channels.mean, op.channels.inverse_deviation, op.channels.scale, op.channels.shift, op.running_mean,
             op.running_variance},
            {},
            {}};
}
inline Results results_of(const MomentGradient& op)
{
    return {{op.sum_of_products, op.gradient, op.scaled, op.slopes, op.shares}, {}, {}};
}
inline Results results_of(const CheckFinite&)
{
    return {};
}
inline Results results_of(const Descend& op)
{
    return {{op.values, op.momenta, op.squares, op.copies}, {}, {}, {op.copies}};
}
inline Results results_of(const Advance&)
{
    return {};
}
template <class Other>
inline Results results_of(const Other& op)
{
    return {{op.result}, {}, {}};
}

template <class Kind>
inline constexpr bool is_of_a_library =
    std::is_same_v<Kind, Convolve> || std::is_same_v<Kind, Multiply> || std::is_same_v<Kind, LibraryNorm> ||
    std::is_same_v<Kind, LibraryNormGradient> || std::is_same_v<Kind, DescendProduct>;  // on CPUs alone

class Comparison {
  public:
    /// `looseness`: more where sums are of more values.
    Comparison(const model::Graph& graph, const Settings& settings, const Choosers& choosers, double looseness = 1)
        : host_(graph, settings, choosers),
          device_(host_.list().bytes),
          device_memory_(host_.list(), device_.data()),
          precision_(settings.storage()),
          looseness_(looseness)
    {
    }

    void run_step()
    {
        for (const Program::Stage& stage : host_.list().stages()) {
            for (const ir::Operation& operation : stage.operations)
                std::visit([&](const auto& one) { compare(one, stage.part.layer); }, operation);
        }
    }
    /// The update as with a loss scale, which only fp16 has in a step.
    void update_scaled()
    {
        host_.memory().state()->loss_scale = 64;
        for (const Program::Stage& stage : host_.list().stages()) {
            for (const ir::Operation& operation : stage.operations) {
                const auto* const found = std::get_if<Descend>(&operation);
                if (found == nullptr) continue;
                Descend scaled = *found;
                scaled.scaled = true;
                compare(scaled, stage.part.layer);
            }
        }
    }
    const std::set<std::string>& kinds() const { return kinds_; }

  private:
    std::byte* host_bytes() const
    {
        return reinterpret_cast<std::byte*>(host_.memory().state()) - offset(host_.list().state());
    }
    std::size_t offset(const Tensor& tensor) const { return host_.list().offset(tensor); }

    template <class Kind>
    void compare(const Kind& operation, const std::string& layer)
    {
        const Program::Stage alone{{}, {operation}, {}};
        const std::size_t bytes = host_.list().bytes;
        if constexpr (!is_of_a_library<Kind>) {
            INFO(layer << ", operation " << ir::Operation(operation).index());
            REQUIRE(cudaMemcpy(device_.data(), host_bytes(), bytes, cudaMemcpyHostToDevice) == cudaSuccess);
            bool is_left_out = false;  // after gradients beyond fp16
            if constexpr (std::is_same_v<Kind, Descend>) is_left_out = operation.scaled && host_.state().finite == 0;
            for (const Tensor& tensor : results_of(operation).fresh)
                if (tensor && !is_left_out)
                    REQUIRE(cudaMemset(device_.data() + offset(tensor), 0xFF, tensor.bytes()) == cudaSuccess);
            enqueue(operation, device_memory_, nullptr);
            REQUIRE(emulated::fault_of_pending_work() == "");
            run_on_host(alone, host_.memory());
            kinds_.insert(typeid(Kind).name());
            check(results_of(operation));
        } else {
            run_on_host(alone, host_.memory());
        }
    }

    void check(const Results& results)
    {
        std::vector<std::byte> found = device_.values();
        const Memory there(host_.list(), found.data());
        for (const Tensor& tensor : results.values) {
            if (!tensor) continue;
            check_values(Values(host_.memory(), tensor), Values(there, tensor), tensor.elements(),
                         tensor.precision == Precision::fp32 ? Precision::fp32 : precision_);
            forget(tensor, found);
        }
        CHECK(there.state()->loss == Approx(host_.state().loss).epsilon(1e-5));
        there.state()->loss = host_.state().loss;
        for (const Tensor& tensor : results.scratch) forget(tensor, found);
        // Tensors of bytes, the state, and all that the operation does not write: the same bits.
        REQUIRE(std::memcmp(found.data(), host_bytes(), found.size()) == 0);
    }

    void check_values(const Values& expected, const Values& found, std::size_t count, Precision precision)
    {
        const double unit = precision == Precision::bf16 ? 1.0 / 128 : precision == Precision::fp16 ? 1.0 / 1024 : 1e-5;
        // Sums that should be 0 are what rounding left of their parts, which grow with the scale of the loss.
        const double least = 1e-7 * static_cast<double>(host_.state().loss_scale);
        double largest = 1e-6;
        for (std::size_t i = 0; i < count; ++i)
            if (std::isfinite(expected[i])) largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
        for (std::size_t i = 0; i < count; ++i) {
            if (std::isinf(expected[i]) && found[i] == expected[i]) continue;  // a gradient beyond fp16
            const double margin =
                looseness_ * (least + unit * (std::abs(static_cast<double>(expected[i])) + 0.01 * largest));
            const double apart = std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
            if (!std::isfinite(expected[i]) || !(apart <= margin))
                FAIL("value " << i << " of " << count << ": " << found[i] << ", not " << expected[i]);
        }
    }

    void forget(const Tensor& tensor, std::vector<std::byte>& found) const
    {
        if (tensor) std::memcpy(found.data() + offset(tensor), host_bytes() + offset(tensor), tensor.bytes());
    }

    HostTraining host_;
    Array<std::byte> device_;
    Memory device_memory_;
    Precision precision_;
    double looseness_;
    std::set<std::string> kinds_;
};

}  // namespace roof::cudnn
