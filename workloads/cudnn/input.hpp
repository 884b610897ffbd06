// Copies batches through pinned memory to the device on a separate stream, while a step computes on the previous batch.
#pragma once

#include "ert/gpu/buffer.hpp"
#include "ert/gpu/stream.hpp"
#include "workloads/data/source.hpp"

#include <cstdint>

namespace roof::cudnn {

class Input {
  public:
    /// Device address and size of a batch.
    struct Target {
        float* images = nullptr;
        std::int32_t* labels = nullptr;
        std::size_t labels_there = 0;
        std::size_t values = 0;  ///< of all images
        int classes = 0;
    };
    /// Copies the first batch. Throws Error.
    Input(data::Source source, const Target& target);

    /// Waits for the source's next batch and starts its copy after `is_read`: the device has read the previous batch.
    /// Does not copy a batch that is already there. The batch before must have arrived. Throws Error for a label
    /// outside the classes.
    void fetch(const gpu::Event& is_read);
    /// Waits for the copy. Returns how long after `step_end` it ended; 0 if it ended before.
    Seconds arrive(const gpu::Event& step_end);

    data::SourceFacts facts() const { return source_.facts(); }
    /// Returns the time of all copies since the first; 0 for a source with one batch in memory.
    Seconds copying() const { return copying_; }
    int copies() const { return copies_; }
    std::size_t bytes_each() const { return image_bytes_ + label_bytes_; }

  private:
    /// Copies the batch to pinned memory and from there to the device.
    void send(const data::Batch& batch);

    data::Source source_;
    Target target_;
    std::size_t image_bytes_;
    std::size_t label_bytes_;
    gpu::HostBuffer pinned_;  ///< no copy reads it when the next batch is fetched
    gpu::Stream stream_;
    gpu::Event begin_;
    gpu::Event end_;
    bool is_under_way_ = false;
    Seconds copying_{};
    int copies_ = 0;
};

}  // namespace roof::cudnn
