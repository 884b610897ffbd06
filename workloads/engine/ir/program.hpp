// A training step as a program: stages (one layer in one phase each) of operations on tensors, and its memory plan.
// Independent of devices; the user provides the memory.
#pragma once

#include "ert/method/bench/subject.hpp"
#include "workloads/engine/ir/memory.hpp"
#include "workloads/engine/ir/operations.hpp"
#include "workloads/engine/program.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace roof::ir {

// What an operation moves: each tensor that it reads or writes, once.

/// `scratch`: written and read by the operation alone, which may keep it in a cache.
enum class Use { read, written, scratch };

struct Operand {
    Tensor tensor{};
    Use use = Use::read;
    std::optional<std::size_t> part{};  ///< bytes that the operation moves, where they are not all of the tensor

    std::size_t moved() const { return part.value_or(tensor.bytes()); }
};

/// Returns a tensor that is read and written twice, and none that is empty. `state`: of the step; `updated_apart`:
/// values that its DescendProducts update.
std::vector<Operand> operands_of(const Operation& operation, const Tensor& state, std::size_t updated_apart);

class Program : public engine::Program<Operation> {
  public:
    Program();

    /// Adds memory to the tensor. Its values are valid from the first operation that uses it to the last.
    Tensor tensor(Tensor shape);
    /// As tensor(), but the values are always valid.
    Tensor resident(Tensor shape);
    void keep(const Tensor& tensor);
    bool is_kept(const Tensor& tensor) const { return kept_.contains(place_of(tensor.block)); }
    /// The result overwrites the tensor, of the same size, which no later operation uses.
    void write_over(const Tensor& result, const Tensor& tensor) { over_[result.block] = place_of(tensor.block); }
    /// Returns the block that has the memory of this one: itself, or what it overwrites.
    int place_of(int block) const
    {
        const auto over = over_.find(block);
        return over == over_.end() ? block : over->second;
    }
    Tensor resident_bytes(std::size_t bytes)
    {
        return resident({.batch = 1, .channels = static_cast<int>(bytes), .precision = Precision::int8});
    }
    /// Adds a tensor of constant int32 numbers. The caller that allocates the program's memory copies constants() into
    /// it.
    Tensor constant(std::vector<std::int32_t> numbers);
    const std::vector<std::pair<Tensor, std::vector<std::int32_t>>>& constants() const { return constants_; }
    /// Those of a tensor that constant() returned.
    const std::vector<std::int32_t>& numbers_of(const Tensor& tensor) const
    {
        return std::ranges::find(constants_, tensor.block, [](const auto& one) { return one.first.block; })->second;
    }
    /// Returns at least `bytes` bytes for one operation; no tensor for 0.
    Tensor scratch(std::size_t bytes);
    /// Returns the tensor of the StepState.
    const Tensor& state() const { return state_; }
    /// Returns Memory::counters_there zeros of 32 bits. A user must leave them zero.
    const Tensor& counters() const { return counters_; }

    /// The executor runs the operations of a stage's batch norms as one: what one of them moved no other moves again.
    void run_whole_norms() { whole_norms_ = true; }
    /// Uses the tensors that the operation reads or writes, and adds the bytes that it moves (operands.hpp).
    void append(const Operation& operation, const std::string& implementation);

    /// Plans the memory and returns its size in bytes. Append nothing afterwards.
    std::size_t place() { return plan().lay_out(); }
    /// Returns the byte offset of the tensor in the memory. Call place() first.
    std::size_t offset(const Tensor& tensor) const { return plan().offset(place_of(tensor.block)) + tensor.begin; }

  private:
    std::set<int> kept_;
    std::map<int, int> over_;  ///< by the block of a result
    Tensor state_;
    Tensor counters_;
    bool whole_norms_ = false;
    std::set<std::tuple<int, std::size_t, bool>> moved_by_norms_;  ///< in the open stage: block, begin, whether written
    std::size_t stage_of_norms_ = 0;
    std::size_t updated_apart_ = 0;  ///< values that DescendProducts update
    std::vector<std::pair<Tensor, std::vector<std::int32_t>>> constants_;
};

}  // namespace roof::ir
