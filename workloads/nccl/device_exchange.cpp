#include "workloads/nccl/device_exchange.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"

#include <stdexcept>
#include <utility>

namespace roof::nccl {
namespace {

using gpu::check;
using parallel::Mode;
using parallel::Reach;

/// Returns a stream of the device's highest priority: its few thread blocks run before those of the backward pass.
cudaStream_t urgent_stream()
{
    int least = 0;
    int greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    return stream;
}

std::size_t bytes_of(const DeviceRange& range, std::size_t count)
{
    return count * static_cast<std::size_t>(traits(range.precision).storage_bytes);
}

}  // namespace

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

DeviceExchange::DeviceExchange(std::shared_ptr<const Ranks> ranks, DeviceExchangeOptions options, cudaStream_t step)
    : ranks_(std::move(ranks)),
      options_(std::move(options)),
      step_(step),
      communication_(urgent_stream()),
      exchange_(options_.packing, options_.mode, operations())
{
}

StreamOperations DeviceExchange::operations()
{
    return {.communication_follows_step = [this] { to_communication_.order(step_, communication_.get()); },
            .step_follows_communication =
                [this] {
                    const Interval& wait = waits_.next();
                    wait.begin.record(step_);
                    to_step_.order(communication_.get(), step_);
                    wait.end.record(step_);
                },
            .mean = [this](const parallel::Bucket& bucket,
                           parallel::Reach reach) { transfer([&] { mean(bucket, reach); }); },
            .broadcast_parameters =
                [this] {
                    transfer([&] { broadcast(communication_.get()); });
                    for (const DeviceBytes& some : options_.parameters)
                        bytes_ += Bytes{static_cast<double>(some.bytes)};
                }};
}

void DeviceExchange::begin()
{
    transfers_.used = waits_.used = 0;
    bytes_ = {};
    begin_.record(step_);
    exchange_.begin();
}

Communication DeviceExchange::cost() const
{
    ranks_->wait(step_);
    return parallel::communication_of(times(transfers_), times(waits_), bytes_);
}

const DeviceExchange::Interval& DeviceExchange::Intervals::next()
{
    if (used == all.size()) all.emplace_back();
    return all[used++];
}

std::vector<parallel::Interval> DeviceExchange::times(const Intervals& intervals) const
{
    std::vector<parallel::Interval> found;
    for (std::size_t i = 0; i < intervals.used; ++i)
        found.push_back({intervals.all[i].begin.since(begin_), intervals.all[i].end.since(begin_)});
    return found;
}

template <class Put>
void DeviceExchange::transfer(const Put& put)
{
    const Interval& times = transfers_.next();
    times.begin.record(communication_.get());
    put();
    times.end.record(communication_.get());
}

void DeviceExchange::mean(const parallel::Bucket& bucket, parallel::Reach reach)
{
    DeviceRange range = options_.gradients;
    range.begin = static_cast<std::byte*>(range.begin) + bytes_of(range, bucket.begin);
    range.count = bucket.count;
    ranks_->enqueue_mean(range, reach, communication_.get());
    bytes_ += Bytes{static_cast<double>(bytes_of(range, bucket.count))};
}

void DeviceExchange::broadcast(cudaStream_t stream) const
{
    for (const DeviceBytes& some : options_.parameters) ranks_->enqueue_broadcast(some.begin, some.bytes, stream);
}

void DeviceExchange::complete_parameters() const
{
    if (options_.mode != Mode::broadcast) return;
    broadcast(step_);
    ranks_->wait(step_);
}

}  // namespace roof::nccl
