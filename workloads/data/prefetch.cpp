// One mutex guards the counters. Pixels are written without it: each image has one worker.
#include "workloads/data/prefetch.hpp"

namespace roof::data {

Prefetch::Prefetch(std::size_t batch, std::size_t image_elements, int workers, MakeSample make)
    : batch_(batch),
      image_elements_(image_elements),
      make_(std::move(make)),
      slots_(ahead + 1),
      free_batches_(ahead + 1)
{
    for (Slot& slot : slots_) {
        slot.images.resize(batch * image_elements);
        slot.labels.resize(batch);
    }
    for (int worker = 0; worker < workers; ++worker) {
        workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
}

Prefetch::~Prefetch()
{
    for (std::jthread& worker : workers_) worker.request_stop();
}

Batch Prefetch::next()
{
    std::unique_lock lock(mutex_);
    if (next_batch_ > 0) {
        slot_of(next_batch_ - 1).finished = 0;
        free_batches_ = next_batch_ + slots_.size();
        slot_free_.notify_all();
    }
    Slot& slot = slot_of(next_batch_);
    batch_ready_.wait(lock, [&] { return failure_ || slot.finished == batch_; });
    if (failure_) std::rethrow_exception(failure_);
    ++next_batch_;
    return {slot.images.data(), slot.labels.data(), true};
}

void Prefetch::work(const std::stop_token& stop)
{
    while (const std::optional<std::uint64_t> sample = claim(stop)) {
        try {
            make(*sample);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
            batch_ready_.notify_all();
            return;
        }
    }
}

std::optional<std::uint64_t> Prefetch::claim(const std::stop_token& stop)
{
    std::unique_lock lock(mutex_);
    slot_free_.wait(lock, stop, [&] { return next_sample_ / batch_ < free_batches_; });
    if (stop.stop_requested()) return std::nullopt;
    return next_sample_++;
}

void Prefetch::make(std::uint64_t sample)
{
    Slot& slot = slot_of(sample / batch_);
    const std::size_t place = sample % batch_;
    slot.labels[place] = make_(sample, std::span(slot.images).subspan(place * image_elements_, image_elements_));
    const std::lock_guard lock(mutex_);
    if (++slot.finished == batch_) batch_ready_.notify_all();
}

}  // namespace roof::data
