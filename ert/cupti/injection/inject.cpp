// roof_inject.so: the driver loads it into any program when CUDA_INJECTION64_PATH names it, and NVTX when
// NVTX_INJECTION64_PATH names it. It must never harm the program.
#include "ert/cupti/injection/session.hpp"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <exception>

namespace {

using namespace roof::cupti;

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
