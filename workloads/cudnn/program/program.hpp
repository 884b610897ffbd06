// A training step as a program: stages, each a layer in one phase, of operations on tensors. It is written once, layer by layer;
// then its memory is planned from who uses what when. It knows of no device: who runs it gives it one piece of memory.
#pragma once

#include "ert/method/bench/subject.hpp"
#include "workloads/cudnn/program/operations.hpp"
#include "workloads/engine/memory_plan.hpp"

#include <string>
#include <vector>

namespace roof::cudnn {

class Program {
  public:
    Program();

    struct Stage {
        TimedPart part;
        std::vector<Operation> operations;
        std::vector<std::size_t> ready;  ///< parameters whose gradients are whole when the stage has run
    };

    /// The tensor with memory of its own: its values hold from the first operation that uses it to the last.
    Tensor tensor(Tensor shape);
    /// Holds its values at all times.
    Tensor resident(Tensor shape);
    void keep(const Tensor& tensor) { plan_.keep(tensor.block); }
    Tensor resident_bytes(std::size_t bytes);
    /// At least so many bytes for one operation; none for 0.
    Tensor scratch(std::size_t bytes);
    /// Of a StepState.
    const Tensor& state() const { return state_; }
    /// Of zeros, which whoever counts in them leaves zero: fp32-sized, `counters_there` of them.
    const Tensor& counters() const { return counters_; }
    static constexpr std::size_t counters_there = 1024;

    /// Opens a stage; what is appended from here on belongs to it.
    void begin(const std::string& layer, const std::string& kind, Phase phase);
    void add_work(const Work& work);
    /// `used`: what the operation reads and writes; tensors that are none are passed over.
    void append(const Operation& operation, const std::vector<Tensor>& used, const std::string& implementation);
    /// The open stage completes the gradient of this parameter.
    void completes(std::size_t parameter) { stages_.back().ready.push_back(parameter); }

    /// Plans the memory; returns the bytes it takes. Nothing may be appended afterwards.
    std::size_t place() { return plan_.lay_out(); }
    /// Of the tensor's first byte, from the start of the memory. Once placed.
    std::size_t offset(const Tensor& tensor) const { return plan_.offset(tensor.block) + tensor.begin; }

    /// In the order they run, which is forward, backward, update.
    const std::vector<Stage>& stages() const { return stages_; }
    std::vector<TimedPart> parts() const;

  private:
    std::vector<Stage> stages_;
    int moment_ = 0;  ///< operations appended so far
    engine::MemoryPlan plan_;
    Tensor state_;
    Tensor counters_;
};

/// A placed program in memory: addresses of its tensors.
class Memory {
  public:
    Memory(const Program& program, std::byte* begin) : program_(&program), begin_(begin) {}

    /// Null for a tensor that is none.
    template <class Element>
    Element* at(const Tensor& tensor) const
    {
        if (!tensor) return nullptr;
        return reinterpret_cast<Element*>(begin_ + program_->offset(tensor));
    }
    void* at(const Tensor& tensor) const { return at<std::byte>(tensor); }
    StepState* state() const { return at<StepState>(program_->state()); }
    unsigned* counters() const { return at<unsigned>(program_->counters()); }

  private:
    const Program* program_;
    std::byte* begin_;
};

}  // namespace roof::cudnn
