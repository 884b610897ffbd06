// The step's program on the CPU. Operations are oneDNN primitives or functions of this project; tensors have oneDNN's
// layouts. After place() nothing can be added.
#pragma once

#include "ert/method/bench/subject.hpp"
#include "workloads/engine/program.hpp"
#include "workloads/kernels/elements.hpp"
#include "workloads/onednn/program/dnnl.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace roof::onednn {

/// A tensor's layout and, after place(), its address. Copies refer to the same tensor.
struct Tensor {
    dnnl::memory memory;
    int block = -1;  ///< index in the memory plan; -1: outside memory

    Desc desc() const { return memory.get_desc(); }
    Precision precision() const { return precision_of(desc()); }
    /// Requires an fp32 tensor.
    float* data() const { return static_cast<float*>(memory.get_data_handle()); }
    Elements elements() const { return {memory.get_data_handle(), precision()}; }
    /// Elements in memory, including the layout's padding.
    std::size_t stored() const
    {
        return desc().get_size() / static_cast<std::size_t>(traits(precision()).storage_bytes);
    }
};

using Arguments = std::vector<std::pair<int, Tensor>>;

/// The memory of a program: one mapping, aligned to huge pages, with huge pages advised, initially zero.
class Arena {
  public:
    Arena() = default;
    /// Throws OutOfMemory, naming `what_for`, before it touches memory if less than `bytes` is available.
    Arena(std::size_t bytes, const std::string& what_for);

    std::byte* at(std::size_t offset) const { return begin_ + offset; }
    std::size_t size() const { return size_; }

  private:
    struct Unmap {
        std::size_t bytes;
        void operator()(void* mapping) const;
    };
    std::unique_ptr<void, Unmap> mapping_;
    std::byte* begin_ = nullptr;
    std::size_t size_ = 0;
};

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
    /// A tensor whose memory the caller sets before each run.
    Tensor outside(const Desc& desc) const;

    /// Appends a primitive; its scratchpad is part of the memory plan.
    template <class Primitive>
    void append(const typename Primitive::primitive_desc& description, const Arguments& arguments)
    {
        append(Primitive(description), description.impl_info_str(), description.scratchpad_desc(), arguments);
    }
    /// Appends a function that reads and writes these tensors.
    void append(std::function<void()> run, const std::vector<Tensor>& used, const std::string& implementation);
    /// Returns the tensor in that layout and precision: itself, or a new one that a reorder fills.
    Tensor in_layout(const Tensor& tensor, const Desc& desc);
    /// Copies `from` to `to`, in any layouts and precisions.
    void reorder(const Tensor& from, const Tensor& to);

    /// Plans and allocates the memory. Throws OutOfMemory, naming `what_for`. Nothing may be appended afterwards.
    void place(const std::string& what_for);
    /// Sets every byte to `value`, for trials that only measure time.
    void fill(std::byte value);
    std::size_t arena_bytes() const { return arena_.size(); }
    /// The stage that is being written; its index is that of its part.
    std::size_t stage() const { return stages().size() - 1; }

    /// Runs the phase's stages, each in its own span; calls `done` after each, outside its span.
    void run(Phase phase, Trace& trace, const std::function<void(std::size_t stage)>& done = {});
    /// Runs one stage; its index is that of its part.
    void run_stage(std::size_t index, Trace& trace);

  private:
    void append(dnnl::primitive primitive, const std::string& implementation, const Desc& scratchpad,
                Arguments arguments);
    void use(const Tensor& tensor);

    dnnl::engine engine_;
    dnnl::stream stream_;
    std::vector<Tensor> tensors_;
    Arena arena_;
};

}  // namespace roof::onednn
