#include "tools/roof/console/interrupt.hpp"

namespace roof {
namespace {

// Global, because a signal handler cannot receive an argument of ours.
volatile std::sig_atomic_t signal_seen = 0;

void note_signal(int)
{
    signal_seen = 1;
}

}  // namespace

InterruptGuard::InterruptGuard()
{
    signal_seen = 0;
    struct sigaction action {};
    action.sa_handler = note_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigaction(SIGINT, &action, &old_interrupt_);
    sigaction(SIGTERM, &action, &old_terminate_);
    // Writing beyond a limit of the file size then fails with a reason. A handler, because programs that we start inherit an ignored
    // signal.
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    sigaction(SIGXFSZ, &action, nullptr);
}

InterruptGuard::~InterruptGuard()
{
    sigaction(SIGINT, &old_interrupt_, nullptr);
    sigaction(SIGTERM, &old_terminate_, nullptr);
}

bool InterruptGuard::raised() const
{
    return signal_seen != 0;
}

}  // namespace roof
