// The recording of one process, from its start to its end. Errors become a note in the folder and never disturb the
// program. If counters are wanted, the program is traced first and counted afterwards. If it is recorded from its start
// or within ranges, it is only counted, because counting changes the times. If nothing can be counted, it is traced.
#pragma once

#include "ert/cupti/injection/settings.hpp"
#include "ert/cupti/launch_counter.hpp"
#include "ert/cupti/recorder.hpp"

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace roof::cupti {

class Session {
  public:
    /// Starts recording. Throws Error, and writes the reason to the folder, if that fails.
    explicit Session(Settings settings);
    ~Session() = delete;  ///< lives as long as the process: CUPTI's threads may call until the very end

    /// Stops and writes, once, from any thread. Throws nothing.
    void finish(const std::string& why) noexcept;

    /// Finishes, then lets the signal end the process. Safe in a signal handler.
    void end_by_signal(int number) noexcept;

  private:
    void run_thread();
    bool counts() const { return !settings_.metrics.empty(); }
    void begin_counting();
    /// Writes what was traced, and starts counting if it is wanted.
    void end_tracing(const std::string& why) noexcept;
    void trace_instead() noexcept;
    void take_traced(const std::string& why);
    void take_counted();
    void write(const std::string& why);
    std::vector<std::string> notes_on_counting() const;
    std::string summary(const std::string& why, Nanoseconds end) const;

    Settings settings_;
    std::filesystem::path folder_;
    std::unique_ptr<Recorder> recorder_;
    std::unique_ptr<LaunchCounter> counter_;  ///< null before counting begins
    std::string traced_;                      ///< summary of the tracing, when it has ended
    Nanoseconds begin_ = 0;
    Window window_;
    std::mutex finishing_;
    std::atomic<bool> is_finished_ = false;
    int wake_[2] = {-1, -1};  ///< a pipe: a signal handler can only write a byte
};

/// Writes a note to the folder of this process. Throws nothing.
void leave_note(const std::filesystem::path& folder, const std::string& note) noexcept;

/// The folder of this process in `folder`.
std::filesystem::path folder_of_process(const std::filesystem::path& folder);

}  // namespace roof::cupti
