// What an operation moves: each tensor that it reads or writes, once.
#pragma once

#include "workloads/engine/ir/operations.hpp"

#include <optional>
#include <vector>

namespace roof::ir {

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

}  // namespace roof::ir
