#include "workloads/engine/ir/program.hpp"

#include <utility>

namespace roof::ir {
namespace {

/// Returns "bf16 32x64x56x56".
std::string describe(const Tensor& tensor)
{
    const auto text = [](int value) { return std::to_string(value); };
    return std::string(traits(tensor.precision).name) + " " + text(tensor.batch) + "x" + text(tensor.channels) + "x" +
           text(tensor.height) + "x" + text(tensor.width);
}

}  // namespace

Program::Program()
    : state_(resident_bytes(sizeof(StepState))), counters_(resident_bytes(counters_there * sizeof(unsigned)))
{
}

Tensor Program::tensor(Tensor shape)
{
    shape.block = plan().add(shape.bytes());
    return shape;
}

Tensor Program::resident(Tensor shape)
{
    const Tensor kept = tensor(shape);
    plan().keep(kept.block);
    return kept;
}

Tensor Program::resident_bytes(std::size_t bytes)
{
    return resident({.batch = 1, .channels = static_cast<int>(bytes), .precision = Precision::int8});
}

Tensor Program::constant(std::vector<std::int32_t> numbers)
{
    const Tensor kept =
        resident({.batch = 1, .channels = static_cast<int>(numbers.size()), .precision = Precision::int32});
    return constants_.emplace_back(kept, std::move(numbers)).first;
}

Tensor Program::scratch(std::size_t bytes)
{
    constexpr std::size_t page = 4096;
    if (bytes == 0) return {};
    const auto pages = static_cast<int>((bytes + page - 1) / page);
    return tensor({.batch = pages, .channels = static_cast<int>(page), .precision = Precision::int8});
}

void Program::append(const Operation& operation, const std::vector<Tensor>& used, const std::string& implementation)
{
    roof::Operation description{implementation, {}, {}};
    for (const Tensor& tensor : used) {
        if (!tensor) continue;
        use(tensor.block);
        description.operands += (description.operands.empty() ? "" : ", ") + describe(tensor);
        description.bytes += Bytes{static_cast<double>(tensor.bytes())};
    }
    add_operation(operation, std::move(description));
}

}  // namespace roof::ir
