// Binds attention to its plans.
#include "workloads/cudnn/library/pass_graphs.hpp"
#include "workloads/cudnn/library/plans.hpp"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace roof::cudnn {
namespace {

struct Parts {
    void *queries, *keys, *values;
};

/// Where the parts of a map as the operation's source begin.
template <class Operation>
Parts parts_of(const Operation& operation, const Tensor& map, const Memory& memory)
{
    const std::size_t head = static_cast<std::size_t>(operation.result.channels / operation.heads) *
                             static_cast<std::size_t>(traits(map.precision).storage_bytes);
    auto* const begin = memory.at<std::byte>(map);
    auto* const keys = begin + static_cast<std::size_t>(operation.heads) * head;
    return {begin, keys, keys + static_cast<std::size_t>(operation.kv_heads) * head};
}

/// What a plan reads on the host when it is enqueued.
struct Constants {
    float scale;  ///< of the scores
    float lowest = -std::numeric_limits<float>::infinity();
    float one = 1;
};

template <class Operation>
std::shared_ptr<Constants> constants_of(const Operation& operation)
{
    const int channels = operation.result.channels / operation.heads;
    return std::make_shared<Constants>(Constants{1 / std::sqrt(static_cast<float>(channels))});
}

/// What both passes read or write.
template <class Operation>
std::vector<Address> addresses_of(const Operation& operation, const Memory& memory, Constants& constants)
{
    const Parts from = parts_of(operation, operation.source, memory);
    return {{attention_queries, from.queries},
            {attention_keys, from.keys},
            {attention_values, from.values},
            {attention_result, memory.at(operation.result)},
            {attention_sums, memory.at(operation.sums)},
            {attention_scale, &constants.scale},
            {attention_lowest, operation.causal ? &constants.lowest : nullptr}};
}

}  // namespace

std::function<void()> PlansByNumber::bound(const Attention& operation, const Memory& memory) const
{
    if (operation.plan < 0 || operation.by_products) return {};
    const auto constants = constants_of(operation);
    return [constants, run = running(operation.plan, addresses_of(operation, memory, *constants),
                                     memory.at(operation.workspace))] { run(); };
}

std::function<void()> PlansByNumber::bound(const AttentionGradient& operation, const Memory& memory) const
{
    if (operation.plan < 0 || operation.by_products) return {};
    const auto constants = constants_of(operation);
    const Parts to = parts_of(operation, operation.to_source, memory);
    std::vector<Address> addresses = addresses_of(operation, memory, *constants);
    for (const Address& one : {Address{attention_gradient, memory.at(operation.gradient)},
                               {attention_to_queries, to.queries},
                               {attention_to_keys, to.keys},
                               {attention_to_values, to.values},
                               {attention_products, memory.at(operation.products)},
                               {attention_to_queries_fp32, memory.at(operation.to_queries)},
                               {attention_one, &constants->one}})
        addresses.push_back(one);
    return [constants, run = running(operation.plan, std::move(addresses), memory.at(operation.workspace))] { run(); };
}

}  // namespace roof::cudnn
