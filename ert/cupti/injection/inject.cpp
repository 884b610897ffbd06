// roof_inject.so: the driver loads it into any program when CUDA_INJECTION64_PATH names it, and NVTX when
// NVTX_INJECTION64_PATH names it. It must never harm the program.
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/cupti/injection/settings.hpp"
#include "ert/cupti/launch_counter.hpp"
#include "ert/cupti/recorder.hpp"
#include "ert/method/bench/clock.hpp"
#include "ert/recording/record_files.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace roof::cupti {

namespace {

constexpr int look_every_milliseconds = 50;

/// The command line with blanks between the arguments; empty if it cannot be read.
std::string command_of_process()
{
    try {
        std::string words = read_file("/proc/self/cmdline");
        for (char& letter : words)
            if (letter == '\0' || letter == '\n') letter = ' ';
        return words;
    } catch (const Error&) {
        return "";
    }
}

void die_of(int number)
{
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    sigaction(number, &action, nullptr);
    ::kill(::getpid(), number);
}

/// The folder of this process in `folder`.
std::filesystem::path folder_of_process(const std::filesystem::path& folder)
{
    return folder / ("process-" + std::to_string(::getpid()));
}

/// Writes a note to the folder of this process. Throws nothing.
void leave_note(const std::filesystem::path& folder, const std::string& note) noexcept
{
    try {
        make_folder(folder_of_process(folder));
        write_file(folder_of_process(folder) / "recorded.yaml", "note: " + note + "\n");
    } catch (const std::exception&) {
        // Nothing is left to do: the program's own output must not be written to.
    }
}

// The recording of one process, from its start to its end. Errors become a note in the folder and never disturb the
// program. If counters are wanted, the program is traced first and counted afterwards. If it is recorded from its start
// or within ranges, it is only counted, because counting changes the times. If nothing can be counted, it is traced.
class Session {
  public:
    /// Starts recording. Throws Error, and writes the reason to the folder, if that fails.
    explicit Session(Settings settings)
        : settings_(std::move(settings)), folder_(folder_of_process(settings_.folder)), window_(settings_.window)
    {
        make_folder(folder_);
        recorder_ = std::make_unique<Recorder>(Cupti::open());
        recorder_->subscriber().follow_ranges();
        begin_ = recorder_->now();
        if (counts() && settings_.window.is_whole)
            begin_counting();
        else
            recorder_->start();
        if (::pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0) throw Error("no pipe can be made");
        std::thread([this] { run_thread(); }).detach();
    }
    ~Session() = delete;  ///< lives as long as the process: CUPTI's threads may call until the very end

    /// Stops and writes, once, from any thread. Throws nothing.
    void finish(const std::string& why) noexcept
    {
        const std::lock_guard lock(finishing_);
        if (is_finished_.exchange(true)) return;
        try {
            write(why);
        } catch (const std::exception& error) {
            leave_note(settings_.folder, error.what());
        }
    }
    /// Finishes, then lets the signal end the process. Safe in a signal handler.
    void end_by_signal(int number) noexcept
    {
        const auto byte = static_cast<unsigned char>(number);
        if (::write(wake_[1], &byte, 1) != 1) die_of(number);
    }

  private:
    void run_thread()
    {
        const Clock clock = steady_clock();
        for (;;) {
            pollfd wait{wake_[0], POLLIN, 0};
            if (::poll(&wait, 1, look_every_milliseconds) > 0) {
                unsigned char signal = 0;
                if (::read(wake_[0], &signal, 1) != 1) continue;
                finish("ended by signal " + std::to_string(signal));
                die_of(signal);
                return;
            }
            if (is_finished_) continue;
            if (counter_ != nullptr) {
                if (counter_->is_finished() && !recorder_->is_running()) finish("enough kernels were counted");
                continue;
            }
            if (recorder_->activities() == 0) recorder_->bring_completed();  // the first work begins a window
            const Window::Action action = window_.next(clock(), recorder_->activities() > 0);
            if (action == Window::Action::restart) {
                recorder_->forget();
                begin_ = recorder_->now();
            } else if (action == Window::Action::finish) {
                end_tracing("the time to record was over");
            }
        }
    }

    bool counts() const { return !settings_.metrics.empty(); }

    void begin_counting()
    {
        CountingOrder order{settings_.metrics, settings_.kernels, {}};
        if (!settings_.range.empty())
            order.is_wanted = [this] { return recorder_->subscriber().ranges().is_within(settings_.range); };
        counter_ = std::make_unique<LaunchCounter>(Cupti::open(), std::move(order));
        recorder_->subscriber().set_listener([this](const UpcomingCall& call) {
            counter_->before(call);
            if (counter_->has_failed()) trace_instead();
        });
    }

    /// Traces from the first launch that could not be counted. Does not wait for finish(), which may wait for this
    /// call.
    void trace_instead() noexcept
    {
        const std::unique_lock lock(finishing_, std::try_to_lock);
        if (!lock.owns_lock() || is_finished_) return;
        if (!traced_.empty() || recorder_->is_running()) return;
        try {
            recorder_->start();
        } catch (const std::exception&) {
            // The counter has noted the reason already.
        }
    }

    /// Writes what was traced, and starts counting if it is wanted.
    void end_tracing(const std::string& why) noexcept
    {
        if (!counts()) return finish(why);
        const std::lock_guard lock(finishing_);
        if (is_finished_) return;
        try {
            take_traced(why);
            write_file(folder_ / "recorded.yaml", traced_);  // the program may be killed during counting
            begin_counting();
        } catch (const std::exception& error) {
            is_finished_ = true;
            leave_note(settings_.folder, error.what());
        }
    }

    void take_traced(const std::string& why)
    {
        const Nanoseconds end = recorder_->now();
        recorder_->stop();
        traced_ = summary(why, end);
        recorder_->write(folder_, "program", {begin_, settings_.range});
    }

    void take_counted()
    {
        counter_->finish();
        recorder_->subscriber().set_listener(nullptr);
        const std::vector<CounterRecord> records = counter_->take();
        if (!records.empty()) append_records<CounterRecord>(folder_, "program", records);
    }

    void write(const std::string& why)
    {
        if (counter_ != nullptr) take_counted();
        if (recorder_->is_running())
            take_traced(why);
        else if (traced_.empty())
            traced_ = summary(why, recorder_->now()) + "counted: alone\n";
        std::string text = traced_;
        for (const std::string& note : notes_on_counting()) text += "note: " + note + "\n";
        write_file(folder_ / "recorded.yaml", text);
    }

    std::vector<std::string> notes_on_counting() const
    {
        if (!counts()) return {};
        if (counter_ == nullptr)
            return {
                "no hardware counters: the program ended while it was traced; --from-start counts from its first "
                "kernel"};
        const std::string& failure = recorder_->subscriber().failure();
        if (!failure.empty()) return {"no hardware counters: CUPTI reports no launches (" + failure + ")"};
        return counter_->notes();
    }

    std::string summary(const std::string& why, Nanoseconds end) const
    {
        const double seconds = nanosecond * static_cast<double>(end - begin_);
        std::string text = "command: " + command_of_process() + "\n";
        text += "recorded_s: " + format_exact(seconds) + "\n";
        text += "has_start: " + std::string(window_.has_start() ? "yes" : "no") + "\n";
        text += "ended: " + why + "\n";
        text += "activities: " + std::to_string(recorder_->activities()) + "\n";
        text += "dropped: " + std::to_string(recorder_->dropped()) + "\n";
        text += "overhead_s: " + format_exact(recorder_->overhead().value) + "\n";
        for (const std::string& note : recorder_->notes()) text += "note: " + note + "\n";
        return text;
    }

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

/// Global, because the C functions below have no user data. Null: nothing is recorded, or this is a forked child.
std::atomic<Session*> session = nullptr;

void finish_at_exit()
{
    if (Session* const running = session) running->finish("the program ended");
}

void on_signal(int number)
{
    if (Session* const running = session) running->end_by_signal(number);
}

/// Writes the records before a signal ends the program. Signals that the program handles are left alone.
void handle_signals()
{
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
        struct sigaction current {};
        if (sigaction(number, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) continue;
        struct sigaction ours {};
        ours.sa_handler = on_signal;
        ours.sa_flags = SA_RESTART;
        sigaction(number, &ours, nullptr);
    }
}

/// A forked child, such as a data loader's worker, has none of our threads, and must not write its parent's records.
void forget_in_child()
{
    session = nullptr;
}

void begin()
{
    const char* const folder = std::getenv("ROOF_PROFILE_FOLDER");
    try {
        session = new Session(settings_from_environment());
        std::atexit(finish_at_exit);
        pthread_atfork(nullptr, nullptr, forget_in_child);
        handle_signals();
    } catch (const std::exception& error) {
        if (folder != nullptr) leave_note(folder, error.what());
    }
}

}  // namespace

/// Called by the driver on cuInit, which ignores the result.
extern "C" int InitializeInjection()
{
    static const bool has_begun = (begin(), true);
    return has_begun ? 1 : 0;
}

/// Called by NVTX with the function that returns its tables, which CUPTI fills. 0: the program runs without NVTX.
extern "C" int InitializeInjectionNvtx2(void* get_export_table)
{
    try {
        const auto cupti = Cupti::open();
        return cupti->function<int(void*)>("InitializeInjectionNvtx2")(get_export_table);
    } catch (const std::exception&) {
        return 0;
    }
}

}  // namespace roof::cupti
