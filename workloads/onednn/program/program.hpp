// The step's program on the CPU. Operations are oneDNN primitives or functions of this project; tensors have oneDNN's
// layouts. After place() nothing can be added.
#pragma once

#include "ert/method/bench/buffer.hpp"
#include "ert/method/bench/subject.hpp"
#include "workloads/engine/program.hpp"
#include "workloads/engine/settings.hpp"
#include "workloads/kernels/elements.hpp"
#include "workloads/onednn/program/dnnl.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace roof::onednn {

/// A tensor's layout and, after place(), its address. Copies refer to the same tensor. A default one is none.
struct Tensor {
    dnnl::memory memory;
    int block = -1;  ///< index in the memory plan; -1: outside memory

    explicit operator bool() const { return static_cast<bool>(memory); }
    Desc desc() const { return memory.get_desc(); }
    Precision precision() const { return precision_of(desc()); }
    /// Requires an fp32 tensor. Null for none.
    float* data() const { return *this ? static_cast<float*>(memory.get_data_handle()) : nullptr; }
    Elements elements() const { return *this ? Elements{memory.get_data_handle(), precision()} : Elements{}; }
    /// Elements in memory, including the layout's padding.
    std::size_t stored() const
    {
        return desc().get_size() / static_cast<std::size_t>(traits(precision()).storage_bytes);
    }
};

using Arguments = std::vector<std::pair<int, Tensor>>;

class Program : public engine::Program<std::function<void()>> {
  public:
    explicit Program(dnnl::engine engine) : engine_(std::move(engine)), stream_(engine_) {}
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    const dnnl::engine& engine() const { return engine_; }
    const dnnl::stream& stream() const { return stream_; }

    /// A tensor that is live from the first to the last operation that uses it.
    Tensor tensor(const Desc& desc);
    /// A tensor that is always live.
    Tensor resident(const Desc& desc);
    /// A part of a tensor of the program, in its memory. Throws dnnl::error if the layout has no such part.
    Tensor part(const Tensor& of, const Dims& dims, const Dims& begin);
    /// The tensor's memory in another layout of the same bytes.
    Tensor view(const Tensor& of, const Desc& desc);
    /// A tensor whose memory the caller sets before each run.
    Tensor outside(const Desc& desc) const { return {dnnl::memory(desc, engine_, DNNL_MEMORY_NONE)}; }

    /// Appends a primitive; its scratchpad is part of the memory plan. Here and below tensors that are none are left
    /// out.
    void append(const Implementation& implementation, Arguments arguments);
    /// Appends a function that reads and writes these tensors.
    void append(std::function<void()> run, const std::vector<Tensor>& used, const std::string& implementation);
    /// Returns the tensor in that layout and precision: itself, or a new one that a reorder fills.
    Tensor in_layout(const Tensor& tensor, const Desc& desc);
    /// Copies `from` to `to`, in any layouts and precisions.
    void reorder(const Tensor& from, const Tensor& to);
    /// The same, of tensors whose numbers lie in one order.
    void copy(const Tensor& from, const Tensor& to, const std::string& implementation);

    /// Plans the memory and returns its bytes, which are whole huge pages. Nothing may be appended afterwards.
    std::size_t lay_out();
    /// Plans, unless that is done, and allocates the memory. Throws OutOfMemory, naming `what_for`.
    void place(const std::string& what_for);
    /// Sets every byte to `value`, for trials that only measure time.
    void fill(std::byte value);
    std::size_t arena_bytes() const { return bytes_; }

    /// Runs the phase's stages, each in its own span; calls `done` after each, outside its span.
    void run(Phase phase, Trace& trace, const std::function<void(std::size_t stage)>& done = {});
    /// Runs one stage; its index is that of its part.
    void run_stage(std::size_t index, Trace& trace);

  private:
    void use(const Tensor& tensor);

    dnnl::engine engine_;
    dnnl::stream stream_;
    std::vector<Tensor> tensors_;
    std::size_t bytes_ = 0;
    Buffer arena_;
};

// The settings of a step, by this engine's names, and the state that changes from step to step.

using engine::Algorithm;
using engine::Choices;
using engine::momentum;
using engine::Parameters;
using engine::Question;
using engine::Settings;
using engine::weight_decay;

/// State that the operations of a step share, besides tensors.
struct StepState {
    const int* labels = nullptr;  ///< [batch][of an image]
    double loss = 0;              ///< of the last forward pass
    std::uint32_t step = 0;       ///< steps begun before this one; seeds dropout
    engine::AdamShares adam{};    ///< of the next update
};

/// Whether linear layers' weights are updated by SGD from the factors of their gradient, which then is not stored.
inline bool updates_from_factors(const Settings& settings)
{
    return settings.ranks == nullptr && settings.optimizer == model::Optimizer::sgd;
}

}  // namespace roof::onednn
