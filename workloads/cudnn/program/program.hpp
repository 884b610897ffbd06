// A training step as a program: stages, each a layer in one phase, of operations on tensors. It is written once, layer by layer;
// then its memory is planned from who uses what when. It knows of no device: who runs it gives it one piece of memory.
#pragma once

#include "ert/method/bench/subject.hpp"
#include "workloads/cudnn/program/operations.hpp"
#include "workloads/engine/program.hpp"

#include <string>
#include <vector>

namespace roof::cudnn {

class Program : public engine::Program<Operation> {
  public:
    Program();

    /// The tensor with memory of its own: its values hold from the first operation that uses it to the last.
    Tensor tensor(Tensor shape);
    /// Holds its values at all times.
    Tensor resident(Tensor shape);
    void keep(const Tensor& tensor) { plan().keep(tensor.block); }
    Tensor resident_bytes(std::size_t bytes);
    /// At least so many bytes for one operation; none for 0.
    Tensor scratch(std::size_t bytes);
    /// Of a StepState.
    const Tensor& state() const { return state_; }
    /// Of zeros, which whoever counts in them leaves zero: fp32-sized, `counters_there` of them.
    const Tensor& counters() const { return counters_; }
    static constexpr std::size_t counters_there = 1024;

    /// `used`: what the operation reads and writes; tensors that are none are passed over.
    void append(const Operation& operation, const std::vector<Tensor>& used, const std::string& implementation);

    /// Plans the memory; returns the bytes it takes. Nothing may be appended afterwards.
    std::size_t place() { return plan().lay_out(); }
    /// Of the tensor's first byte, from the start of the memory. Once placed.
    std::size_t offset(const Tensor& tensor) const { return plan().offset(tensor.block) + tensor.begin; }

  private:
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
