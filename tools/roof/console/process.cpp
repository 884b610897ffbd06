#include "tools/roof/console/process.hpp"

#include "ert/base/files.hpp"
#include "ert/base/process.hpp"

#include <unistd.h>

#include <cstdio>
#include <string_view>
#include <utility>

namespace roof {
namespace {

// Global, because what runs at an exit, and a signal handler, cannot receive an argument of ours.
bool is_guarded = false;
volatile std::sig_atomic_t signal_seen = 0;

void say_so()
{
    constexpr std::string_view sentence =
        "roof: a library ended this process; the rows in measurements.csv are complete, and the same command "
        "continues\n";
    if (is_guarded && ::write(STDERR_FILENO, sentence.data(), sentence.size()) < 0) return;
}

void note_signal(int)
{
    signal_seen = 1;
}

}  // namespace

ExitGuard::ExitGuard()
{
    is_guarded = true;
    std::atexit(say_so);
}

ExitGuard::~ExitGuard()
{
    is_guarded = false;
}

InterruptGuard::InterruptGuard()
{
    signal_seen = 0;
    struct sigaction action {};
    action.sa_handler = note_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    for (auto [number, old] : {std::pair{SIGINT, &old_interrupt_}, {SIGTERM, &old_terminate_}})
        if (sigaction(number, nullptr, old) == 0 && old->sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
}

InterruptGuard::~InterruptGuard()
{
    sigaction(SIGINT, &old_interrupt_, nullptr);
    sigaction(SIGTERM, &old_terminate_, nullptr);
}

bool InterruptGuard::raised()
{
    return signal_seen != 0;
}

void prepare_signals()
{
    std::signal(SIGCHLD, SIG_DFL);
    struct sigaction action {};
    action.sa_handler = [](int) {};  // not ignored, because programs that we start would inherit that
    action.sa_flags = SA_RESTART;
    sigaction(SIGXFSZ, &action, nullptr);
}

void start_again(char** words)
{
    std::fflush(nullptr);
    give_back_output();
    execv(program_path().c_str(), words);
}

}  // namespace roof
