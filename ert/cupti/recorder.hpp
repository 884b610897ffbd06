// Records what the GPUs of this process do, by CUPTI's activities: kernels, copies, fills, calls, waits, allocations and the
// program's own ranges. Needs no rights. The thing recorded runs on as it would, a few percent slower; kernels are not serialised.
// Not yet run on hardware.
#pragma once

#include "ert/cupti/activity_log.hpp"
#include "ert/cupti/buffers.hpp"
#include "ert/cupti/labels.hpp"
#include "ert/cupti/library.hpp"
#include "ert/cupti/records.hpp"
#include "ert/cupti/watcher.hpp"

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace roof::cupti {

class Recorder {
  public:
    /// One at a time in a process: CUPTI's callbacks do not say whom they call. Throws Error if there is one. To know the layers of
    /// kernels in a CUDA graph it must be there when the graph is captured.
    explicit Recorder(std::shared_ptr<const Cupti> cupti);
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// From now on. Throws Error or Unsupported where kernels cannot be seen; what else cannot is in notes().
    void start();
    /// Waits for what CUPTI still holds. Work that runs on the device now may be lost: wait for it first.
    void stop();
    bool is_running() const { return is_running_; }

    /// Until leave(), what this thread asks for carries the label. Labels do not nest.
    void enter(std::uint64_t label);
    void leave();
    std::uint64_t number_of(const Label& label) { return labels_.number_of(label); }
    /// Of the calling thread's own making: a step, a phase.
    void add_range(RangeKind kind, const std::string& name, Nanoseconds begin, Nanoseconds end);

    /// Of CUPTI's clock.
    Nanoseconds now() const;

    /// Kernels and copies so far, of those CUPTI has delivered.
    std::size_t activities() const;
    /// Whether a kernel was recorded whose name holds the word.
    bool has_kernel(std::string_view word) const;
    /// Forgets what was recorded so far.
    void forget();

    /// What was recorded becomes lines of the recorded files in `folder`, of the row `id`, and is forgotten. Not while it runs.
    void write(const std::filesystem::path& folder, const std::string& id, const RecordOptions& options);

    std::size_t dropped() const;
    Seconds overhead() const;
    /// What could not be recorded, each with its reason.
    const std::vector<std::string>& notes() const { return notes_; }

    /// What is told of the program's calls as they are made.
    Watcher& watcher() { return watcher_; }
    /// The kernels recorded that began within that time, in the order in which they began, each with its label; those of graphs too.
    std::vector<LaunchSeen> kernels_between(Nanoseconds begin, Nanoseconds end) const;

    /// For CUPTI's callbacks alone.
    void give_buffer(std::uint8_t** buffer, std::size_t* bytes);
    void take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t valid);

  private:
    void enable(CUpti_ActivityKind kind, const char* what);
    void note(const std::string& what);

    std::shared_ptr<const Cupti> cupti_;
    CUptiResult (*push_)(CUpti_ExternalCorrelationKind, std::uint64_t);
    CUptiResult (*pop_)(CUpti_ExternalCorrelationKind, std::uint64_t*);
    Labels labels_;
    Watcher watcher_;
    Buffers buffers_;
    mutable std::mutex mutex_;  ///< of the log
    ActivityLog log_;
    std::vector<CUpti_ActivityKind> enabled_;
    std::vector<std::string> notes_;
    bool is_registered_ = false;
    std::atomic<bool> is_running_ = false;
};

}  // namespace roof::cupti
