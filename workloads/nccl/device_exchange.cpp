#include "workloads/nccl/device_exchange.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"

#include <utility>

namespace roof::nccl {

namespace {

constexpr int operation_average = 4;
constexpr int type_of_bytes = 0;

/// Collective.
gpu::UniqueId common_id(const gpu::Nccl& library, parallel::Communicator& hosts)
{
    gpu::UniqueId id;
    if (hosts.rank == 0) library.call("ncclGetUniqueId", &id);
    hosts.broadcast(parallel::bytes_in(id), 0);
    return id;
}

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

// Prototypes and constants from nccl.h, which may not be installed; unchanged since version 2.14.

int nccl_type(Precision precision)
{
    if (precision == Precision::fp32) return 7;
    if (precision == Precision::fp16) return 6;
    if (precision == Precision::bf16) return 9;
    throw Unsupported("gradients are reduced in fp32, fp16 or bf16");
}

template <class... Arguments>
void Ranks::call(const char* name, Arguments... arguments) const
{
    library_->call(name, arguments...);
    own_.await(watch("the connection between the GPUs"));
}

Ranks::Ranks(std::shared_ptr<const gpu::Nccl> library, std::shared_ptr<parallel::Communicator> hosts, bool waits)
    : library_(std::move(library)),
      hosts_(std::move(hosts)),
      own_(library_, size(), common_id(*library_, *hosts_), rank(), waits)
{
    own_.await(watch("the start of NCCL"));
}

Ranks::~Ranks()
{
    try {
        if (own_.get() != nullptr) own_.leave(watch("the end of NCCL"));
    } catch (const Error&) {  // NOLINT: another rank has failed, which the row reports; the rank's destructor aborts
    }
}

gpu::WhileWaiting Ranks::watch(const char* what) const
{
    return [this, what](Seconds waited) { hosts_->watch(waited, what); };
}

void Ranks::enqueue_mean(const DeviceRange& range, parallel::Reach reach, cudaStream_t stream) const
{
    const int type = nccl_type(range.precision);
    const void* const from = range.begin;
    if (reach == parallel::Reach::all)
        call("ncclAllReduce", from, range.begin, range.count, type, operation_average, own_.get(), stream);
    else
        call("ncclReduce", from, range.begin, range.count, type, operation_average, 0, own_.get(), stream);
}

void Ranks::enqueue_broadcast(void* begin, std::size_t bytes, cudaStream_t stream) const
{
    const void* const from = begin;
    call("ncclBroadcast", from, begin, bytes, type_of_bytes, 0, own_.get(), stream);
}

void Ranks::enqueue_exchange(const void* out, int to, void* in, int from, std::size_t bytes, cudaStream_t stream) const
{
    // Outside a group a rank that sends would wait until the other receives.
    library_->grouped([&] {
        if (to >= 0) library_->call("ncclSend", out, bytes, type_of_bytes, to, own_.get(), stream);
        if (from >= 0) library_->call("ncclRecv", in, bytes, type_of_bytes, from, own_.get(), stream);
    });
    own_.await(watch("the connection between the GPUs"));
}

void Ranks::wait(cudaStream_t stream) const
{
    cudaError_t status = cudaErrorNotReady;
    gpu::wait_while([&] { return (status = cudaStreamQuery(stream)) == cudaErrorNotReady; },
                    [&](Seconds waited) {
                        hosts_->watch(waited, "the exchange between the GPUs");
                        own_.await([](Seconds) {});
                    });
    gpu::check(status);
}

DeviceExchange::DeviceExchange(std::shared_ptr<const Ranks> ranks, DeviceExchangeOptions options, cudaStream_t step)
    : ranks_(std::move(ranks)),
      options_(std::move(options)),
      step_(step),
      communication_(urgent_stream()),
      order_(options_.packing, options_.mode, operations())
{
}

parallel::ExchangeOperations DeviceExchange::operations()
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
    order_.begin();
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
