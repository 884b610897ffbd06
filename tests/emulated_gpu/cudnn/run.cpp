#include "tests/emulated_gpu/cudnn/graph.hpp"
#include "tests/emulated_gpu/device/numbers.hpp"

#include <cmath>
#include <limits>

namespace roof::emulated {
namespace {

using Numbers = std::vector<double>;  ///< of a tensor, by the order of for_each()

std::size_t place(const Index& extents, const Index& at)
{
    return static_cast<std::size_t>(((at[0] * extents[1] + at[1]) * extents[2] + at[2]) * extents[3] + at[3]);
}

/// The place that is read for an element of `along`: repeated where there is one, and for neighbouring heads.
Index read_for(const Index& read, const Index& along, Index at)
{
    for (std::size_t i = 0; i < 4; ++i)
        if (read[i] != along[i]) at[i] = i == 1 ? at[i] / (along[i] / read[i]) : 0;
    return at;
}

double rounded(double value, cudnnDataType_t type)
{
    if (type == CUDNN_DATA_BFLOAT16) return widen(narrow<bf16>(value));
    if (type == CUDNN_DATA_HALF) return widen(narrow<f16>(value));
    return type == CUDNN_DATA_FLOAT ? static_cast<double>(static_cast<float>(value)) : value;
}

double load(const void* at, std::int64_t k, cudnnDataType_t type)
{
    if (type == CUDNN_DATA_BFLOAT16) return widen(static_cast<const bf16*>(at)[k]);
    if (type == CUDNN_DATA_HALF) return widen(static_cast<const f16*>(at)[k]);
    return static_cast<double>(static_cast<const float*>(at)[k]);
}

void store(void* at, std::int64_t k, cudnnDataType_t type, double value)
{
    if (type == CUDNN_DATA_BFLOAT16)
        static_cast<bf16*>(at)[k] = narrow<bf16>(value);
    else if (type == CUDNN_DATA_HALF)
        static_cast<f16*>(at)[k] = narrow<f16>(value);
    else
        static_cast<float*>(at)[k] = static_cast<float>(value);
}

double pointwise(int mode, double x, double b, double t)
{
    switch (mode) {
        case CUDNN_POINTWISE_EXP:
            return std::exp(x);
        case CUDNN_POINTWISE_LOG:
            return std::log(x);
        case CUDNN_POINTWISE_MUL:
            return x * b;
        case CUDNN_POINTWISE_ADD:
            return x + b;
        case CUDNN_POINTWISE_SUB:
            return x - b;
        case CUDNN_POINTWISE_DIV:
            return x / b;
        case CUDNN_POINTWISE_CMP_GE:
            return x >= b ? 1 : 0;
        case CUDNN_POINTWISE_BINARY_SELECT:
            return t != 0 ? x : b;
        default:
            return x;
    }
}

}  // namespace

void for_each(const Index& extents, const std::function<void(const Index&)>& round)
{
    Index at{};
    for (at[0] = 0; at[0] < extents[0]; ++at[0])
        for (at[1] = 0; at[1] < extents[1]; ++at[1])
            for (at[2] = 0; at[2] < extents[2]; ++at[2])
                for (at[3] = 0; at[3] < extents[3]; ++at[3]) round(at);
}

void OperationGraph::run(const std::map<std::int64_t, void*>& addresses) const
{
    std::map<std::int64_t, Numbers> known;
    const auto numbers = [&](std::int64_t number) -> const Numbers& {
        const auto [found, is_new] = known.try_emplace(number);
        const GraphTensor& one = tensor(number);
        if (is_new)
            for_each(one.extents, [&](const Index& at) {
                found->second.push_back(load(addresses.at(number), one.offset(at), one.type));
            });
        return found->second;
    };
    for (const GraphOperation& operation : operations_) {
        const GraphTensor& to = tensor(operation.to);
        const GraphTensor& from = tensor(operation.from[0]);
        const bool is_largest = operation.mode == CUDNN_REDUCE_TENSOR_MAX;
        Numbers made(static_cast<std::size_t>(to.elements()));
        const Numbers& x = numbers(operation.from[0]);
        switch (operation.kind) {
            case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: {
                const GraphTensor& other = tensor(operation.from[1]);
                const Numbers& y = numbers(operation.from[1]);
                for_each(to.extents, [&](const Index& at) {
                    Index left = read_for(from.extents, to.extents, {at[0], at[1], 0, 0});
                    Index right = read_for(other.extents, to.extents, {at[0], at[1], 0, 0});
                    left[2] = at[2];
                    right[3] = at[3];
                    double sum = 0;
                    for (std::int64_t k = 0; k < from.extents[3]; ++k) {
                        left[3] = right[2] = k;
                        sum += x[place(from.extents, left)] * y[place(other.extents, right)];
                    }
                    made[place(to.extents, at)] = sum;
                });
                break;
            }
            case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
                if (is_largest) made.assign(made.size(), -std::numeric_limits<double>::infinity());
                for_each(from.extents, [&](const Index& at) {
                    double& into = made[place(to.extents, read_for(to.extents, from.extents, at))];
                    const double value = x[place(from.extents, at)];
                    into = is_largest ? std::max(into, value) : into + value;
                });
                break;
            case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR: {
                // The same memory, seen by other strides.
                Numbers memory(static_cast<std::size_t>(std::max(from.span(), to.span())));
                for_each(from.extents, [&](const Index& at) {
                    memory[static_cast<std::size_t>(from.offset(at))] = x[place(from.extents, at)];
                });
                for_each(to.extents, [&](const Index& at) {
                    made[place(to.extents, at)] = memory[static_cast<std::size_t>(to.offset(at))];
                });
                break;
            }
            default:
                for_each(to.extents, [&](const Index& at) {
                    std::array<double, 3> with{};
                    for (std::size_t i = 0; i < operation.from.size(); ++i) {
                        const Index& extents = tensor(operation.from[i]).extents;
                        with[i] = numbers(operation.from[i])[place(extents, read_for(extents, to.extents, at))];
                    }
                    made[place(to.extents, at)] =
                        operation.axis >= 0 ? static_cast<double>(at[static_cast<std::size_t>(operation.axis)])
                                            : pointwise(operation.mode, with[0], with[1], with[2]);
                });
        }
        std::size_t k = 0;
        for_each(to.extents, [&](const Index& at) {
            made[k] = rounded(made[k], to.type);
            if (!to.is_passing) store(addresses.at(to.number), to.offset(at), to.type, made[k]);
            ++k;
        });
        known[operation.to] = std::move(made);
    }
}

}  // namespace roof::emulated
