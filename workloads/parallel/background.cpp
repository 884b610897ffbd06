#include "workloads/parallel/background.hpp"

#include <utility>

namespace roof::parallel {

Background::Background(std::function<void(std::span<float>, Reach)> mean, const Clock& clock)
    : mean_(std::move(mean)), clock_(clock), thread_([this] { work(); })
{
}

Background::~Background()
{
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void Background::start(std::span<float> range, Reach reach)
{
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back({range, reach, clock_()});
    }
    changed_.notify_all();
}

std::vector<Interval> Background::finish()
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return jobs_.empty() || failure_ != nullptr; });
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    return std::exchange(done_, {});
}

void Background::work()
{
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return ending_ || (!jobs_.empty() && failure_ == nullptr); });
        if (ending_) return;
        const Job job = jobs_.front();
        lock.unlock();
        std::exception_ptr failure;
        try {
            mean_(job.range, job.reach);
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

}  // namespace roof::parallel
