// Worker threads that fill a ring of batches ahead of the consumer, image by image, so that several share one batch.
#pragma once

#include "workloads/data/source.hpp"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

namespace roof::data {

class Prefetch {
  public:
    /// Writes the `sample`-th image of the endless stream and returns its label. Called by all workers at once; a
    /// function of `sample` alone, so that the batches do not depend on the number of workers.
    using MakeSample = std::function<int(std::uint64_t sample, std::span<float> image)>;

    /// Batches that are ready or being made, besides the one the consumer holds.
    static constexpr std::size_t ahead = 2;

    Prefetch(std::size_t batch, std::size_t image_elements, int workers, MakeSample make);
    /// Waits for the images being made now, not for the batches.
    ~Prefetch();
    Prefetch(const Prefetch&) = delete;
    Prefetch& operator=(const Prefetch&) = delete;

    /// Gives the batch before back and waits for the next. Rethrows what a worker threw.
    Batch next();

  private:
    struct Slot {
        std::vector<float> images;
        std::vector<int> labels;
        std::size_t finished = 0;  ///< images of it that are made
    };

    void work(const std::stop_token& stop);
    std::optional<std::uint64_t> claim(const std::stop_token& stop);
    void make(std::uint64_t sample);
    Slot& slot_of(std::uint64_t batch) { return slots_[batch % slots_.size()]; }

    std::size_t batch_;
    std::size_t image_elements_;
    MakeSample make_;
    std::vector<Slot> slots_;
    std::mutex mutex_;
    std::condition_variable_any slot_free_;
    std::condition_variable batch_ready_;
    std::uint64_t next_sample_ = 0;   ///< the first that no worker has claimed
    std::uint64_t next_batch_ = 0;    ///< the one next() returns
    std::uint64_t free_batches_ = 0;  ///< batches below this one may be written
    std::exception_ptr failure_;
    std::vector<std::jthread> workers_;  ///< last: they end before what they use
};

}  // namespace roof::data
