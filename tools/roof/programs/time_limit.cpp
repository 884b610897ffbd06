#include "tools/roof/programs/time_limit.hpp"

#include "ert/base/process.hpp"

#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <signal.h>
#include <unistd.h>

namespace roof {

namespace fs = std::filesystem;

TimeLimit::TimeLimit(int seconds, int status, std::string text, fs::path scratch)
    : thread_([this, seconds, status, text = std::move(text), scratch = std::move(scratch)] {
          wait(seconds, status, text, scratch);
      })
{
}

TimeLimit::~TimeLimit()
{
    {
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
    }
    ended_.notify_all();
    thread_.join();
}

void TimeLimit::wait(int seconds, int status, const std::string& text, const fs::path& scratch)
{
    sigset_t term;  // not for this thread: the one that forwards it waits for it
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, nullptr);
    std::unique_lock lock(mutex_);
    if (ended_.wait_for(lock, std::chrono::seconds(seconds), [this] { return has_ended_; })) return;
    [[maybe_unused]] const auto written = write(own_output(), text.data(), text.size());
    if (forwards) {
        constexpr auto to_end = std::chrono::milliseconds(500);
        kill(getpid(), SIGTERM);
        std::this_thread::sleep_for(to_end);
    }
    std::error_code ignored;
    fs::remove_all(scratch, ignored);
    std::_Exit(status);
}

}  // namespace roof
