#include "workloads/parallel/buckets.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

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

Schedule::Schedule(const Packing& packing) : packing_(packing), bucket_of_(packing.begins.size())
{
    for (std::size_t index = 0; index < packing.buckets.size(); ++index) {
        for (const std::size_t gradient : packing.buckets[index].gradients) bucket_of_[gradient] = index;
    }
    restart();
}

void Schedule::restart()
{
    seen_.assign(bucket_of_.size(), false);
    missing_.clear();
    for (const Bucket& bucket : packing_.buckets) missing_.push_back(bucket.gradients.size());
    next_ = 0;
}

std::vector<std::size_t> Schedule::ready(std::size_t gradient)
{
    if (seen_.at(gradient)) throw std::logic_error("gradient " + std::to_string(gradient) + " was ready already");
    seen_[gradient] = true;
    --missing_[bucket_of_[gradient]];
    std::vector<std::size_t> starting;
    while (next_ < missing_.size() && missing_[next_] == 0) starting.push_back(next_++);
    return starting;
}

}  // namespace roof::parallel
