#include "workloads/cudnn/input.hpp"

#include "ert/gpu/check.hpp"
#include "workloads/engine/step.hpp"

#include <algorithm>
#include <cstring>

namespace roof::cudnn {

Input::Input(data::Source source, const Target& target)
    : source_(std::move(source)),
      target_(target),
      image_bytes_(target.values * sizeof(float)),
      label_bytes_(target.labels_there * sizeof(std::int32_t)),
      pinned_(image_bytes_ + label_bytes_, gpu::HostBuffer::Pages::pinned)
{
    send(source_.next());
    stream_.synchronize();
    is_under_way_ = false;
}

void Input::fetch(const gpu::Event& is_read)
{
    const data::Batch batch = source_.next();
    if (!batch.fresh) return;
    is_read.hold(stream_.get());
    send(batch);
}

void Input::send(const data::Batch& batch)
{
    engine::require_labels(batch.labels, target_.labels_there, target_.classes);
    std::byte* const from = pinned_.data();
    std::memcpy(from, batch.images, image_bytes_);
    std::memcpy(from + image_bytes_, batch.labels, label_bytes_);
    begin_.record(stream_.get());
    gpu::check(cudaMemcpyAsync(target_.images, from, image_bytes_, cudaMemcpyHostToDevice, stream_.get()));
    gpu::check(
        cudaMemcpyAsync(target_.labels, from + image_bytes_, label_bytes_, cudaMemcpyHostToDevice, stream_.get()));
    end_.record(stream_.get());
    is_under_way_ = true;
}

Seconds Input::arrive(const gpu::Event& step_end)
{
    if (!is_under_way_) return {};
    end_.synchronize();
    is_under_way_ = false;
    copying_ += end_.since(begin_);
    ++copies_;
    return std::max(Seconds{}, end_.since(step_end));
}

}  // namespace roof::cudnn
