#include "workloads/parallel/exchange.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

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

/// Seconds in which at least one of the intervals was under way.
Seconds covered(std::vector<Interval> intervals)
{
    std::ranges::sort(intervals, {}, [](const Interval& interval) { return interval.begin.value; });
    Seconds sum{};
    double end = -1e300;
    for (const Interval& interval : intervals) {
        const double begin = std::max(interval.begin.value, end);
        sum += Seconds{std::max(0.0, interval.end.value - begin)};
        end = std::max(end, interval.end.value);
    }
    return sum;
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

Communication communication_of(const std::vector<Interval>& transfers, const std::vector<Interval>& waits, Bytes bytes)
{
    std::vector<Interval> either = transfers;
    either.insert(either.end(), waits.begin(), waits.end());
    const Seconds exposed = covered(waits);
    return {.exposed = exposed, .hidden = covered(either) - exposed, .bytes = bytes};
}

/// A thread that reduces ranges one after the other while the calling thread computes.
class Exchange::Background {
  public:
    /// Both are used in the thread and must outlive this.
    Background(Communicator& communicator, const Clock& clock)
        : communicator_(communicator), clock_(clock), thread_([this](const std::stop_token& stop) { work(stop); })
    {
    }

    /// Queues a range; its interval begins now.
    void start(std::span<float> range, Reach reach)
    {
        {
            const std::lock_guard lock(mutex_);
            jobs_.push_back({range, reach, clock_()});
        }
        changed_.notify_all();
    }

    /// Waits until all ranges are reduced; returns when each was under way. Throws what the reduction threw.
    std::vector<Interval> finish()
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return jobs_.empty() || failure_ != nullptr; });
        if (failure_ != nullptr) std::rethrow_exception(failure_);
        return std::exchange(done_, {});
    }

  private:
    struct Job {
        std::span<float> range;
        Reach reach;
        Seconds begin;
    };

    void work(const std::stop_token& stop)
    {
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, stop, [this] { return !jobs_.empty() && failure_ == nullptr; });
            if (stop.stop_requested()) return;
            const Job job = jobs_.front();
            lock.unlock();
            std::exception_ptr failure;
            try {
                communicator_.mean(job.range, job.reach);
            } catch (...) {
                failure = std::current_exception();
            }
            lock.lock();
            failure_ = failure;
            done_.push_back({job.begin, clock_()});
            jobs_.pop_front();
            changed_.notify_all();
        }
    }

    Communicator& communicator_;
    const Clock& clock_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Job> jobs_;  ///< the one under way is the first
    std::vector<Interval> done_;
    std::exception_ptr failure_;
    std::jthread thread_;  ///< last: it ends first
};

ExchangeOrder::ExchangeOrder(Packing packing, Mode mode, ExchangeOperations operations)
    : packing_(std::move(packing)), mode_(mode), operations_(std::move(operations)), bucket_of_(packing_.begins.size())
{
    for (std::size_t index = 0; index < packing_.buckets.size(); ++index) {
        for (const std::size_t gradient : packing_.buckets[index].gradients) bucket_of_[gradient] = index;
    }
}

void ExchangeOrder::begin()
{
    seen_.assign(bucket_of_.size(), false);
    missing_.clear();
    for (const Bucket& bucket : packing_.buckets) missing_.push_back(bucket.gradients.size());
    next_ = 0;
    if (mode_ != Mode::broadcast) return;
    operations_.communication_follows_step();
    operations_.broadcast_parameters();
    operations_.step_follows_communication();
}

void ExchangeOrder::ready(std::size_t gradient)
{
    if (seen_.at(gradient)) throw std::logic_error("gradient " + std::to_string(gradient) + " was ready already");
    seen_[gradient] = true;
    --missing_[bucket_of_[gradient]];
    for (; next_ < missing_.size() && missing_[next_] == 0; ++next_) {
        if (mode_ != Mode::overlapped) continue;
        operations_.communication_follows_step();
        operations_.mean(packing_.buckets[next_], Reach::all);
    }
}

void ExchangeOrder::finish()
{
    if (next_ < missing_.size()) throw std::logic_error("the backward pass ended before all gradients were ready");
    if (mode_ != Mode::overlapped) {
        operations_.communication_follows_step();
        for (const Bucket& bucket : packing_.buckets)
            operations_.mean(bucket, mode_ == Mode::broadcast ? Reach::first : Reach::all);
    }
    operations_.step_follows_communication();
}

Exchange::Exchange(std::shared_ptr<Communicator> communicator, Packing packing, Mode mode, const Clock& clock)
    : communicator_(std::move(communicator)),
      clock_(clock),
      block_(communicator_->block(packing.count)),
      background_(std::make_unique<Background>(*communicator_, clock)),
      order_(std::move(packing), mode, operations())
{
}

Exchange::~Exchange() = default;

ExchangeOperations Exchange::operations()
{
    return {.communication_follows_step = [] {},  // it is started by the thread that computes
            .step_follows_communication =
                [this] {
                    for (const Interval& transfer : background_->finish()) transfers_.push_back(transfer);
                },
            .mean = [this](const Bucket& bucket,
                           Reach reach) { background_->start(block_.subspan(bucket.begin, bucket.count), reach); },
            .broadcast_parameters =
                [this] {
                    const Seconds begin = clock_();
                    for (const std::span<std::byte> bytes : parameters_) {
                        communicator_->broadcast(bytes, 0);
                        broadcast_ += Bytes{static_cast<double>(bytes.size())};
                    }
                    waits_.push_back({begin, clock_()});
                }};
}

void Exchange::begin(const std::vector<std::span<std::byte>>& parameters)
{
    parameters_ = parameters;
    transfers_.clear();
    waits_.clear();
    broadcast_ = {};
    order_.begin();
}

Communication Exchange::finish()
{
    const Seconds begin = clock_();
    order_.finish();
    waits_.push_back({begin, clock_()});
    return communication_of(transfers_, waits_,
                            Bytes{static_cast<double>(packing().count * sizeof(float))} + broadcast_);
}

}  // namespace roof::parallel
