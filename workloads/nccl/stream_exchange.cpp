#include "workloads/nccl/stream_exchange.hpp"

#include <stdexcept>
#include <utility>

namespace roof::nccl {

using parallel::Mode;
using parallel::Reach;

StreamExchange::StreamExchange(parallel::Packing packing, Mode mode, StreamOperations operations)
    : packing_(std::move(packing)), mode_(mode), operations_(std::move(operations)), schedule_(packing_)
{
}

void StreamExchange::begin()
{
    schedule_.restart();
    if (mode_ != Mode::broadcast) return;
    operations_.communication_follows_step();
    operations_.broadcast_parameters();
    operations_.step_follows_communication();
}

void StreamExchange::ready(std::size_t gradient)
{
    for (const std::size_t bucket : schedule_.ready(gradient)) {
        if (mode_ != Mode::overlapped) continue;
        operations_.communication_follows_step();
        operations_.mean(packing_.buckets[bucket], Reach::all);
    }
}

void StreamExchange::finish()
{
    if (!schedule_.complete()) throw std::logic_error("the backward pass ended before all gradients were ready");
    if (mode_ != Mode::overlapped) {
        operations_.communication_follows_step();
        for (const parallel::Bucket& bucket : packing_.buckets)
            operations_.mean(bucket, mode_ == Mode::broadcast ? Reach::first : Reach::all);
    }
    operations_.step_follows_communication();
}

}  // namespace roof::nccl
