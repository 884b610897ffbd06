// Addresses of the tensors of a placed program. Device code parses this, and not the program.
#pragma once

#include "workloads/engine/ir/step_state.hpp"
#include "workloads/engine/ir/tensor.hpp"

#include <cstddef>

namespace roof::ir {

class Program;

class Memory {
  public:
    static constexpr std::size_t counters_there = 1024;

    Memory(const Program& program, std::byte* begin) : program_(&program), begin_(begin) {}

    /// Returns null for an empty tensor.
    void* at(const Tensor& tensor) const;
    template <class Element>
    Element* at(const Tensor& tensor) const
    {
        return static_cast<Element*>(at(tensor));
    }
    StepState* state() const;
    /// Returns `counters_there` zeros of 32 bits. A user must leave them zero.
    unsigned* counters() const;

  private:
    const Program* program_;
    std::byte* begin_;
};

}  // namespace roof::ir
