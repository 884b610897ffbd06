// roof_inject.so: loaded into any program by the driver itself, which looks at CUDA_INJECTION64_PATH when it is initialised, and by
// NVTX, which looks at NVTX_INJECTION64_PATH at the program's first range. It must never harm the program it is in.
#include "ert/cupti/injection/session.hpp"

#include <pthread.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <exception>

namespace {

using namespace roof::cupti;

/// The C functions below are given nothing to remember it by. Null: nothing is recorded, or we are a forked child.
std::atomic<Session*> session = nullptr;

void finish_at_exit()
{
    if (Session* const running = session) running->finish("the program ended");
}

void on_signal(int number)
{
    if (Session* const running = session) running->end_by_signal(number);
}

/// Signals that the program lets end it: what was recorded is written first. One it handles is its own affair.
void watch_signals()
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

/// A forked child (a data loader's worker) has none of our threads, and its parent's records are not its own.
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
        watch_signals();
    } catch (const std::exception& error) {
        if (folder != nullptr) leave_note(folder, error.what());
    }
}

}  // namespace

/// Called by the driver on cuInit. What it returns is of no consequence.
extern "C" int InitializeInjection()
{
    static const bool has_begun = (begin(), true);
    return has_begun ? 1 : 0;
}

/// Called by NVTX with the function that gives its tables; CUPTI fills them, the same CUPTI that records. 0: no NVTX for the program.
extern "C" int InitializeInjectionNvtx2(void* get_export_table)
{
    try {
        const auto cupti = Cupti::open();
        return cupti->function<int(void*)>("InitializeInjectionNvtx2")(get_export_table);
    } catch (const std::exception&) {
        return 0;
    }
}
