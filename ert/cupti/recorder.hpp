// Records the work of this process's GPUs by CUPTI's activities: kernels, copies, fills, calls, waits, allocations and
// the program's own ranges. Needs no rights. The program runs a few percent slower; kernels are not serialised.
#pragma once

#include "ert/cupti/activity_log.hpp"
#include "ert/cupti/labels.hpp"
#include "ert/cupti/library.hpp"
#include "ert/cupti/records.hpp"
#include "ert/cupti/subscriber.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace roof::cupti {

// The buffers that CUPTI fills with records, reused: an allocation in the middle of a step would show in its time.

/// May be used from several threads.
class Buffers {
  public:
    /// `bytes` each, at most `max` at once.
    Buffers(std::size_t bytes, std::size_t max) : bytes_(bytes), max_(max) {}

    /// Aligned to eight bytes, as CUPTI requires. Null if all are in use; CUPTI then drops records and counts them.
    std::uint8_t* take()
    {
        const std::lock_guard lock(mutex_);
        if (!free_.empty()) {
            std::uint8_t* const buffer = free_.back();
            free_.pop_back();
            return buffer;
        }
        if (all_.size() == max_) return nullptr;
        all_.push_back(std::make_unique<std::uint64_t[]>(bytes_ / sizeof(std::uint64_t)));
        return reinterpret_cast<std::uint8_t*>(all_.back().get());
    }
    /// A buffer from take().
    void give_back(std::uint8_t* buffer)
    {
        const std::lock_guard lock(mutex_);
        free_.push_back(buffer);
    }

    std::size_t bytes() const { return bytes_; }

  private:
    std::size_t bytes_;
    std::size_t max_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<std::uint64_t[]>> all_;
    std::vector<std::uint8_t*> free_;
};

class Recorder {
  public:
    /// One at a time in a process, because CUPTI's callbacks carry no user data. Throws Error if there is one. To know
    /// the layers of kernels in a CUDA graph it must exist when the graph is captured.
    explicit Recorder(std::shared_ptr<const Cupti> cupti);
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// Starts recording. Throws Error or Unsupported if kernels cannot be recorded; notes() lists what else cannot.
    void start();
    /// Stops, and flushes CUPTI's buffers. Work that is still running on the device may be lost.
    void stop();
    bool is_running() const { return is_running_; }
    /// Has CUPTI deliver what is complete. By itself it delivers full buffers only, each after some 10,000 launches.
    void bring_completed() const noexcept;

    /// Until leave(), calls of this thread carry the label. Labels do not nest.
    void enter(std::uint64_t label);
    void leave();
    std::uint64_t number_of(const Label& label) { return labels_.number_of(label); }
    /// Adds a range of the calling thread: a step, a phase.
    void add_range(RangeKind kind, const std::string& name, Nanoseconds begin, Nanoseconds end);

    /// Now, on CUPTI's clock.
    Nanoseconds now() const;

    /// Number of kernels and copies that CUPTI has delivered so far.
    std::size_t activities() const;
    /// Whether the name of a recorded kernel contains the text.
    bool has_kernel(std::string_view text) const;
    /// Removes all records.
    void forget();

    /// Appends the records to the files in `folder`, for the row `id`, and removes them. Not while it runs.
    void write(const std::filesystem::path& folder, const std::string& id, const RecordOptions& options);

    std::size_t dropped() const;
    Seconds overhead() const;
    /// What could not be recorded, with reasons.
    const std::vector<std::string>& notes() const { return notes_; }

    /// The subscriber to the program's calls.
    Subscriber& subscriber() { return subscriber_; }
    /// The recorded kernels that began in that time, in order, with their labels; those of graphs too.
    std::vector<LaunchSeen> kernels_between(Nanoseconds begin, Nanoseconds end) const;

    /// Only for CUPTI's callbacks.
    void give_buffer(std::uint8_t** buffer, std::size_t* bytes);
    void take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t valid);

  private:
    void enable(CUpti_ActivityKind kind, const char* what);
    void note(const std::string& what);

    std::shared_ptr<const Cupti> cupti_;
    CUptiResult (*push_)(CUpti_ExternalCorrelationKind, std::uint64_t);
    CUptiResult (*pop_)(CUpti_ExternalCorrelationKind, std::uint64_t*);
    Labels labels_;
    Subscriber subscriber_;
    Buffers buffers_;
    mutable std::mutex mutex_;  ///< of the log
    ActivityLog log_;
    std::vector<CUpti_ActivityKind> enabled_;
    std::vector<std::string> notes_;
    bool is_registered_ = false;
    std::atomic<bool> is_running_ = false;
};

}  // namespace roof::cupti
