#include "workloads/nccl/stream_exchange.hpp"

#include <stdexcept>
#include <utility>

namespace roof::nccl {

using parallel::Mode;
using parallel::Reach;

StreamExchange::StreamExchange(parallel::Packing packing, Mode mode, StreamHands hands)
    : packing_(std::move(packing)), mode_(mode), hands_(std::move(hands)), schedule_(packing_)
{
}

void StreamExchange::begin()
{
    schedule_.restart();
    if (mode_ != Mode::broadcast) return;
    hands_.communication_follows_step();
    hands_.broadcast_parameters();
    hands_.step_follows_communication();
}

void StreamExchange::ready(std::size_t gradient)
{
    for (const std::size_t bucket : schedule_.ready(gradient)) {
        if (mode_ != Mode::overlapped) continue;
        hands_.communication_follows_step();
        hands_.mean(packing_.buckets[bucket], Reach::all);
    }
}

void StreamExchange::finish()
{
    if (!schedule_.complete()) throw std::logic_error("the backward pass ended before all gradients were ready");
    if (mode_ != Mode::overlapped) {
        hands_.communication_follows_step();
        for (const parallel::Bucket& bucket : packing_.buckets)
            hands_.mean(bucket, mode_ == Mode::broadcast ? Reach::first : Reach::all);
    }
    hands_.step_follows_communication();
}

}  // namespace roof::nccl
