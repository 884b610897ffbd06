// How batches reach the device: from their source into pinned memory, and on a stream of their own from there, while a step still
// computes on the batch before.
#pragma once

#include "ert/gpu/host_buffer.hpp"
#include "ert/gpu/stream.hpp"
#include "workloads/cudnn/events.hpp"
#include "workloads/data/source.hpp"

#include <array>
#include <cstdint>

namespace roof::cudnn {

class Input {
  public:
    /// Where a batch goes on the device, and how large it is.
    struct Target {
        float* images = nullptr;
        std::int32_t* labels = nullptr;
        std::size_t batch = 0;
        std::size_t values = 0;  ///< of all its images
        int classes = 0;
    };
    /// Brings the first batch. Throws Error.
    Input(data::Source source, const Target& target);

    /// Takes the next batch from its source, which may wait, and starts its copy when `is_read` says that the device has done with
    /// the one before. A batch that is there already is left there. Throws Error for a label that is no class.
    void fetch(const Event& is_read);
    /// Waits for the copy; returns how much later than `step_end` the batch was there, 0 if it was there before.
    Seconds arrive(const Event& step_end);

    data::SourceFacts facts() const { return source_.facts(); }
    /// Of all copies since the first; 0 for a source whose one batch stays.
    Seconds copying() const { return copying_; }
    int copies() const { return copies_; }
    std::size_t bytes_each() const { return image_bytes_ + label_bytes_; }

  private:
    /// Copies into pinned memory, and from there.
    void send(const data::Batch& batch);

    data::Source source_;
    Target target_;
    std::size_t image_bytes_;
    std::size_t label_bytes_;
    std::array<gpu::HostBuffer, 2> pinned_;
    std::size_t next_ = 0;  ///< of the two
    gpu::Stream stream_;
    Event begin_;
    Event end_;
    bool is_under_way_ = false;
    Seconds copying_{};
    int copies_ = 0;
};

}  // namespace roof::cudnn
