// The step's program on the CPU: operations are calls of oneDNN's primitives or of this project's functions, and
// tensors have oneDNN's layouts. After place() it only runs.
#pragma once

#include "ert/method/bench/subject.hpp"
#include "workloads/engine/program.hpp"
#include "workloads/kernels/elements.hpp"
#include "workloads/onednn/program/arena.hpp"
#include "workloads/onednn/program/dnnl.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace roof::onednn {

/// A tensor's layout and, once the program is placed, its address. Copies are the same tensor.
struct Tensor {
    dnnl::memory memory;
    int block = -1;  ///< in the memory plan; -1: its memory is not the program's

    Desc desc() const { return memory.get_desc(); }
    Precision precision() const { return precision_of(desc()); }
    /// Of an fp32 tensor.
    float* data() const { return static_cast<float*>(memory.get_data_handle()); }
    Elements elements() const { return {memory.get_data_handle(), precision()}; }
    /// Elements in memory, those that pad a layout included.
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

    /// Holds its values from the first operation that uses it to the last.
    Tensor tensor(const Desc& desc);
    /// Holds its values at all times.
    Tensor resident(const Desc& desc);
    /// Its memory is set from outside before each run.
    Tensor outside(const Desc& desc) const;

    /// Appends a primitive; its scratchpad is planned with it.
    template <class Primitive>
    void append(const typename Primitive::primitive_desc& description, const Arguments& arguments)
    {
        append(Primitive(description), description.impl_info_str(), description.scratchpad_desc(), arguments);
    }
    /// Appends a function of this project that reads and writes these tensors.
    void append(std::function<void()> run, const std::vector<Tensor>& used, const std::string& implementation);
    /// The tensor in that layout and precision: itself, or a new one that a reorder fills.
    Tensor in_layout(const Tensor& tensor, const Desc& desc);
    /// Fills `to` from `from`, whatever their layouts and precisions.
    void reorder(const Tensor& from, const Tensor& to);

    /// Plans and takes the memory. Throws OutOfMemory; `what_for` is named then. Nothing may be appended afterwards.
    void place(const std::string& what_for);
    /// Writes this byte everywhere, for trials in which only the time matters.
    void fill(std::byte value);
    std::size_t arena_bytes() const { return arena_.size(); }
    /// The stage that is open while the program is written; its index is that of its part.
    std::size_t stage() const { return stages().size() - 1; }

    /// Runs the phase's stages, each in a span of its own; calls `done` after each, outside its span.
    void run(Phase phase, Trace& trace, const std::function<void(std::size_t stage)>& done = {});
    /// Runs one stage alone; its index is that of its part.
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
