#include "workloads/parallel/exchange.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace roof::parallel {
namespace {

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
        : communicator_(communicator), clock_(clock), thread_([this] { work(); })
    {
    }
    ~Background()
    {
        {
            const std::lock_guard lock(mutex_);
            ending_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;

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

    void work()
    {
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [this] { return ending_ || (!jobs_.empty() && failure_ == nullptr); });
            if (ending_) return;
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
    std::condition_variable changed_;
    std::deque<Job> jobs_;  ///< the one under way is the first
    std::vector<Interval> done_;
    std::exception_ptr failure_;
    bool ending_ = false;
    std::thread thread_;
};

Mode parse_mode(std::string_view word)
{
    constexpr std::array<std::pair<std::string_view, Mode>, 3> words{
        {{"overlapped", Mode::overlapped}, {"serial", Mode::serial}, {"broadcast", Mode::broadcast}}};
    std::vector<std::string> legal;
    for (const auto& [name, mode] : words) {
        if (name == word) return mode;
        legal.emplace_back(name);
    }
    throw InputError(unknown_word("communication", word, legal));
}

Exchange::Exchange(std::shared_ptr<Communicator> communicator, Packing packing, Mode mode, const Clock& clock)
    : communicator_(std::move(communicator)),
      packing_(std::move(packing)),
      mode_(mode),
      clock_(clock),
      block_(communicator_->block(packing_.count)),
      schedule_(packing_),
      background_(std::make_unique<Background>(*communicator_, clock))
{
}

Exchange::~Exchange() = default;

void Exchange::begin(const std::vector<std::span<std::byte>>& parameters)
{
    schedule_.restart();
    transfers_.clear();
    waits_.clear();
    broadcast_ = {};
    if (mode_ != Mode::broadcast) return;
    const Seconds begin = clock_();
    for (const std::span<std::byte> bytes : parameters) {
        communicator_->broadcast(bytes, 0);
        broadcast_ += Bytes{static_cast<double>(bytes.size())};
    }
    waits_.push_back({begin, clock_()});
    transfers_ = waits_;
}

void Exchange::ready(std::size_t gradient)
{
    for (const std::size_t bucket : schedule_.ready(gradient)) {
        if (mode_ == Mode::overlapped) start(bucket);
    }
}

Communication Exchange::finish()
{
    if (!schedule_.complete()) throw std::logic_error("the backward pass ended before all gradients were ready");
    const Seconds begin = clock_();
    for (std::size_t bucket = 0; mode_ != Mode::overlapped && bucket < packing_.buckets.size(); ++bucket) start(bucket);
    for (const Interval& transfer : background_->finish()) transfers_.push_back(transfer);
    waits_.push_back({begin, clock_()});
    return communication_of(transfers_, waits_,
                            Bytes{static_cast<double>(packing_.count * sizeof(float))} + broadcast_);
}

void Exchange::start(std::size_t index)
{
    const Bucket& bucket = packing_.buckets[index];
    background_->start(block_.subspan(bucket.begin, bucket.count),
                       mode_ == Mode::broadcast ? Reach::first : Reach::all);
}

}  // namespace roof::parallel
