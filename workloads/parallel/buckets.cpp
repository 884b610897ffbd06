#include "workloads/parallel/buckets.hpp"

#include <algorithm>
#include <numeric>

namespace roof::parallel {
namespace {

constexpr std::size_t line = 16;  // numbers in a cache line

std::vector<std::size_t> order_of_readiness(const std::vector<GradientSize>& gradients)
{
    std::vector<std::size_t> order(gradients.size());
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t index) { return gradients[index].stage; });
    return order;
}

}  // namespace

Packing pack(const std::vector<GradientSize>& gradients, std::size_t least_bytes)
{
    Packing packing;
    packing.begins.resize(gradients.size());
    std::size_t least = std::min(first_bucket_bytes, least_bytes);
    bool open = false;
    for (const std::size_t index : order_of_readiness(gradients)) {
        if (!open) packing.buckets.push_back({.begin = packing.count, .count = 0, .gradients = {}});
        Bucket& bucket = packing.buckets.back();
        packing.begins[index] = packing.count;
        packing.count += (gradients[index].count + line - 1) / line * line;
        bucket.count = packing.count - bucket.begin;
        bucket.gradients.push_back(index);
        open = bucket.count * sizeof(float) < least;
        if (!open) least = least_bytes;
    }
    return packing;
}

}  // namespace roof::parallel
