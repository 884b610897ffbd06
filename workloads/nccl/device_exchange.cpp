#include "workloads/nccl/device_exchange.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace roof::nccl {

using gpu::check;

namespace {

/// Limit for a wait in case a rank ends without reporting a failure.
constexpr std::chrono::minutes wait_limit{5};

/// A CUDA event. In a captured graph, each replay records it again.
class Event {
  public:
    Event() { check(cudaEventCreate(&event_)); }
    ~Event() { gpu::log_failure(cudaEventDestroy(event_)); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    /// Records the event so that the host can read it later.
    void mark(cudaStream_t stream) const
    {
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        check(cudaStreamIsCapturing(stream, &status));
        const bool captured = status == cudaStreamCaptureStatusActive;
        check(cudaEventRecordWithFlags(event_, stream, captured ? cudaEventRecordExternal : cudaEventRecordDefault));
    }
    /// Work enqueued in `then` from now on waits for the work that `first` contains now.
    void order(cudaStream_t first, cudaStream_t then) const
    {
        check(cudaEventRecord(event_, first));
        check(cudaStreamWaitEvent(then, event_, 0));
    }
    Seconds since(const Event& earlier) const
    {
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
        return {milliseconds * 1e-3};
    }

  private:
    cudaEvent_t event_ = nullptr;
};

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

class DeviceExchange::Streams {
  public:
    Streams(std::shared_ptr<const Ranks> ranks, DeviceExchangeOptions options, cudaStream_t step)
        : ranks_(std::move(ranks)), options_(std::move(options)), step_(step), communication_(urgent_stream())
    {
    }
    ~Streams() { gpu::log_failure(cudaStreamDestroy(communication_)); }
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    StreamOperations operations()
    {
        return {.communication_follows_step = [this] { to_communication_.order(step_, communication_); },
                .step_follows_communication =
                    [this] {
                        const Interval wait = interval(waits_, waits_used_++);
                        wait.begin->mark(step_);
                        to_step_.order(communication_, step_);
                        wait.end->mark(step_);
                    },
                .mean = [this](const parallel::Bucket& bucket,
                               parallel::Reach reach) { transfer([&] { mean(bucket, reach); }); },
                .broadcast_parameters = [this] { transfer([&] { broadcast(); }); }};
    }

    void begin()
    {
        transfers_used_ = waits_used_ = 0;
        bytes_ = {};
        begin_.mark(step_);
    }

    Communication cost() const
    {
        using namespace std::chrono_literals;
        const auto begin = std::chrono::steady_clock::now();
        for (cudaError_t status = cudaStreamQuery(step_); status != cudaSuccess; status = cudaStreamQuery(step_)) {
            if (status != cudaErrorNotReady) check(status);
            ranks_->throw_if_failed();
            if (std::chrono::steady_clock::now() - begin > wait_limit)
                throw Error("the step's communication on the device was not over after five minutes");
            std::this_thread::sleep_for(50us);
        }
        return parallel::communication_of(times(transfers_, transfers_used_), times(waits_, waits_used_), bytes_);
    }

    bool updates() const { return options_.mode != parallel::Mode::broadcast || ranks_->rank() == 0; }

  private:
    struct Interval {
        std::shared_ptr<Event> begin = std::make_shared<Event>();
        std::shared_ptr<Event> end = std::make_shared<Event>();
    };

    /// Returns interval number `index` of a step; the first step makes it.
    static Interval interval(std::vector<Interval>& all, std::size_t index)
    {
        if (index == all.size()) all.emplace_back();
        return all[index];
    }

    std::vector<parallel::Interval> times(const std::vector<Interval>& all, std::size_t used) const
    {
        std::vector<parallel::Interval> found;
        for (std::size_t i = 0; i < used; ++i)
            found.push_back({all[i].begin->since(begin_), all[i].end->since(begin_)});
        return found;
    }

    template <class Put>
    void transfer(const Put& put)
    {
        const Interval times = interval(transfers_, transfers_used_++);
        times.begin->mark(communication_);
        put();
        times.end->mark(communication_);
    }

    void mean(const parallel::Bucket& bucket, parallel::Reach reach)
    {
        DeviceRange range = options_.gradients;
        range.begin = static_cast<std::byte*>(range.begin) + bytes_of(range, bucket.begin);
        range.count = bucket.count;
        ranks_->enqueue_mean(range, reach, communication_);
        bytes_ += Bytes{static_cast<double>(bytes_of(range, bucket.count))};
    }

    void broadcast()
    {
        for (const DeviceBytes& some : options_.parameters) {
            ranks_->enqueue_broadcast(some.begin, some.bytes, communication_);
            bytes_ += Bytes{static_cast<double>(some.bytes)};
        }
    }

    std::shared_ptr<const Ranks> ranks_;
    DeviceExchangeOptions options_;
    cudaStream_t step_;
    cudaStream_t communication_;
    Event begin_, to_communication_, to_step_;
    std::vector<Interval> transfers_;  ///< of one step, in order; entries used so far are valid
    std::vector<Interval> waits_;
    std::size_t transfers_used_ = 0;
    std::size_t waits_used_ = 0;
    Bytes bytes_{};
};

DeviceExchange::DeviceExchange(std::shared_ptr<const Ranks> ranks, DeviceExchangeOptions options, cudaStream_t step)
    : streams_(std::make_unique<Streams>(std::move(ranks), options, step)),
      exchange_(options.packing, options.mode, streams_->operations())
{
}

DeviceExchange::~DeviceExchange() = default;

void DeviceExchange::begin()
{
    streams_->begin();
    exchange_.begin();
}

void DeviceExchange::ready(std::size_t gradient)
{
    exchange_.ready(gradient);
}

void DeviceExchange::finish()
{
    exchange_.finish();
}

Communication DeviceExchange::cost() const
{
    return streams_->cost();
}

bool DeviceExchange::updates() const
{
    return streams_->updates();
}

}  // namespace roof::nccl
