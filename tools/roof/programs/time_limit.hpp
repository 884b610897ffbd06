// A time limit that also ends what does not answer, such as a driver.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

namespace roof {

/// Ends the process with `status` when the time is over, whatever its other threads do: prints `text` on standard
/// output, and removes `scratch`.
class TimeLimit {
  public:
    TimeLimit(int seconds, int status, std::string text, std::filesystem::path scratch);
    ~TimeLimit();
    TimeLimit(const TimeLimit&) = delete;
    TimeLimit& operator=(const TimeLimit&) = delete;

    /// Set while run_children() forwards signals: they are ended first.
    std::atomic<bool> forwards{false};

  private:
    void wait(int seconds, int status, const std::string& text, const std::filesystem::path& scratch);

    std::mutex mutex_{};
    std::condition_variable ended_{};
    bool has_ended_ = false;
    std::thread thread_;
};

}  // namespace roof
