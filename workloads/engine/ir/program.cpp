#include "workloads/engine/ir/program.hpp"

#include "workloads/engine/ir/shapes.hpp"
#include "workloads/engine/ir/tensor.hpp"
#include "workloads/model/work.hpp"

#include <variant>

namespace roof::ir {
namespace {

/// Returns "bf16 32x64x56x56".
std::string describe(const Tensor& tensor)
{
    const auto text = [](int value) { return std::to_string(value); };
    return std::string(traits(tensor.precision).name) + " " + text(tensor.batch) + "x" + text(tensor.channels) + "x" +
           text(tensor.height) + "x" + text(tensor.width);
}

/// Batch norms' operations, of which an executor of whole norms runs those of a stage as one.
bool is_of_norm(const Operation& operation)
{
    return std::holds_alternative<Statistics>(operation) || std::holds_alternative<Normalise>(operation) ||
           std::holds_alternative<ReduceGradient>(operation) || std::holds_alternative<NormGradient>(operation);
}

/// Operations whose traffic without reuse is that of their layer's pass.
bool is_contraction(const Operation& operation)
{
    return std::holds_alternative<Convolve>(operation) || std::holds_alternative<Multiply>(operation) ||
           std::holds_alternative<Attention>(operation) || std::holds_alternative<AttentionGradient>(operation) ||
           std::holds_alternative<AttendCached>(operation) || std::holds_alternative<DescendProduct>(operation);
}

}  // namespace

Program::Program()
    : state_(resident_bytes(sizeof(StepState))), counters_(resident_bytes(Memory::counters_there * sizeof(unsigned)))
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
    keep(kept);
    return kept;
}

void Program::keep(const Tensor& tensor)
{
    const int block = place_of(tensor.block);
    kept_.insert(block);
    plan().keep(block);
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

void Program::append(const Operation& operation, const std::string& implementation)
{
    roof::Operation description{implementation, {}, {}};
    Work moved{};
    const bool is_one = whole_norms_ && is_of_norm(operation);
    if (stages().size() != stage_of_norms_) moved_by_norms_.clear();
    stage_of_norms_ = stages().size();
    for (const Operand& operand : operands_of(operation, state_, updated_apart_)) {
        const Tensor& tensor = operand.tensor;
        const int place = place_of(tensor.block);
        use(place);
        description.operands += (description.operands.empty() ? "" : ", ") + describe(tensor);
        description.bytes += Bytes{static_cast<double>(tensor.bytes())};
        if (operand.use == Use::scratch) continue;
        const bool is_written = operand.use == Use::written;
        if (is_one) {
            const auto has = [&](bool written) { return moved_by_norms_.contains({place, tensor.begin, written}); };
            if (has(is_written) || has(true)) continue;
            moved_by_norms_.insert({place, tensor.begin, is_written});
        }
        (is_written ? moved.written : moved.read) += Bytes{static_cast<double>(operand.moved())};
    }
    if (const auto* const product = std::get_if<DescendProduct>(&operation))
        updated_apart_ += product->values.elements();
    moved.compulsory = moved.read + moved.written;
    if (!is_contraction(operation)) moved.no_reuse = moved.compulsory;
    add_work(moved);
    add_operation(operation, std::move(description));
}

void* Memory::at(const Tensor& tensor) const
{
    return tensor ? begin_ + program_->offset(tensor) : nullptr;
}

StepState* Memory::state() const
{
    return at<StepState>(program_->state());
}

unsigned* Memory::counters() const
{
    return at<unsigned>(program_->counters());
}

ConvolutionPass bare(ConvolutionPass shape)
{
    shape.bias = shape.relu = shape.prologue = shape.statistics = false;
    return shape;
}

bool is_bare(const ConvolutionPass& shape)
{
    return !shape.bias && !shape.relu && !shape.prologue && !shape.statistics;
}

ConvolutionPass space_to_depth(ConvolutionPass shape)
{
    const int block = shape.window.stride;
    const int taps = (shape.window.size + block - 1) / block;
    const int channels = block * block * shape.source.channels;
    shape.source = {up_to_multiple(channels, 8), shape.result.height + taps - 1, shape.result.width + taps - 1};
    shape.window = {.size = taps, .stride = 1, .padding = 0};
    return shape;
}

std::string text(const NormShape& shape)
{
    return "batch norm of " + model::text(shape.batch, shape.map) + (shape.relu ? ", relu" : "") +
           (shape.epsilon == engine::batch_norm_epsilon ? "" : ", epsilon " + std::to_string(shape.epsilon));
}

std::string text(const AttentionPass& shape)
{
    const auto number = [](int value) { return std::to_string(value); };
    return "attention of " + number(shape.batch) + "x" + number(shape.positions) + ", " + number(shape.heads) +
           " heads of " + number(shape.channels) +
           (shape.kv_heads == shape.heads ? "" : ", of keys " + number(shape.kv_heads)) +
           (shape.causal ? ", causal" : "");
}

}  // namespace roof::ir
