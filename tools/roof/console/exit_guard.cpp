#include "tools/roof/console/exit_guard.hpp"

#include <unistd.h>
#include <cstdlib>
#include <string_view>

namespace roof {
namespace {

// Global, because what runs at an exit cannot receive an argument.
bool is_guarded = false;

void say_so()
{
    constexpr std::string_view sentence =
        "roof: a library ended this process; the rows in measurements.csv are complete, and the same command "
        "continues\n";
    if (is_guarded && ::write(STDERR_FILENO, sentence.data(), sentence.size()) < 0) return;
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

}  // namespace roof
