#include "workloads/parallel/schedule.hpp"

#include <algorithm>
#include <stdexcept>

namespace roof::parallel {

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
