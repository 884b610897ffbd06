// Worker threads fill a ring of batches ahead of the consumer. Several workers share one batch, image by image.
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
    /// Writes image `sample` of the endless stream, on which alone it depends; returns its label. All workers call it.
    using MakeSample = std::function<int(std::uint64_t sample, std::span<float> image)>;

    /// Number of batches that are ready or being filled, without the one that the consumer holds.
    static constexpr std::size_t ahead = 2;

    Prefetch(std::size_t batch, std::size_t image_elements, int workers, MakeSample make);
    /// Waits until the workers have finished their current images.
    ~Prefetch();
    Prefetch(const Prefetch&) = delete;
    Prefetch& operator=(const Prefetch&) = delete;

    /// Releases the previous batch and waits for the next. Rethrows an exception of a worker.
    Batch next();

  private:
    struct Slot {
        std::vector<float> images;
        std::vector<int> labels;
        std::size_t finished = 0;  ///< number of finished images
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
    std::uint64_t next_sample_ = 0;   ///< first sample that no worker has claimed
    std::uint64_t next_batch_ = 0;    ///< batch that next() returns next
    std::uint64_t free_batches_ = 0;  ///< batches with a smaller number may be written
    std::exception_ptr failure_;
    std::vector<std::jthread> workers_;  ///< last member: the threads must end first
};

}  // namespace roof::data
