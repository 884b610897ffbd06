// One process being recorded, from the moment the driver loads us to its end. Whatever goes wrong here becomes a note in the
// folder, and never the program's trouble. Where counters are wanted it is traced first and counted afterwards, or, where the
// program is to be recorded from its start or within ranges, counted alone: counting changes the times that tracing is for.
// Where nothing can be counted it is traced all the same.
#pragma once

#include "ert/cupti/injection/settings.hpp"
#include "ert/cupti/launch_counter.hpp"
#include "ert/cupti/recorder.hpp"

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace roof::cupti {

class Session {
  public:
    /// Begins to record. Throws Error where that cannot be; the folder then says so.
    explicit Session(Settings settings);
    ~Session() = delete;  ///< lives as long as the process: CUPTI's threads may call until the very end

    /// Stops and writes, once, however often it is called and from whatever thread. Throws nothing.
    void finish(const std::string& why) noexcept;

    /// The process was told to end by a signal: finish, then let the signal have its way. Safe in a signal's handler.
    void end_by_signal(int number) noexcept;

  private:
    void watch();
    bool counts() const { return !settings_.metrics.empty(); }
    void begin_counting();
    /// The time to trace is over: what was traced is written, and counting begins if it is wanted.
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
    std::unique_ptr<LaunchCounter> counter_;  ///< from when counting began
    std::string traced_;                      ///< the summary of what was traced, once that is over
    Nanoseconds begin_ = 0;
    Window window_;
    std::mutex finishing_;
    std::atomic<bool> is_finished_ = false;
    int wake_[2] = {-1, -1};  ///< a pipe: a signal's handler may do little else than write a byte
};

/// Where this process leaves a word when there is nothing else to leave. Throws nothing.
void leave_note(const std::filesystem::path& folder, const std::string& note) noexcept;

/// Where this process writes: a folder in `folder`, of its own.
std::filesystem::path folder_of_process(const std::filesystem::path& folder);

}  // namespace roof::cupti
