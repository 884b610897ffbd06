// A thread that reduces ranges one after the other while the calling thread computes.
#pragma once

#include "workloads/parallel/account.hpp"
#include "workloads/parallel/communicator.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace roof::parallel {

class Background {
  public:
    /// Both are called in the thread; `clock` must outlive this.
    Background(std::function<void(std::span<float>, Reach)> mean, const Clock& clock);
    /// Waits for the running reduction; reductions that have not begun are dropped.
    ~Background();
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;

    /// Queues a range; its interval begins now.
    void start(std::span<float> range, Reach reach);
    /// Waits until all ranges are reduced; returns when each was under way. Throws what the reduction threw.
    std::vector<Interval> finish();

  private:
    struct Job {
        std::span<float> range;
        Reach reach;
        Seconds begin;
    };
    void work();

    std::function<void(std::span<float>, Reach)> mean_;
    const Clock& clock_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job> jobs_;  ///< the one under way is the first
    std::vector<Interval> done_;
    std::exception_ptr failure_;
    bool ending_ = false;
    std::thread thread_;
};

}  // namespace roof::parallel
