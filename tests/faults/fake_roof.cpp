// roof with the fake registry: a sweep takes milliseconds, and its rows are the same each time.
#include "tests/fakes/fake_registry.hpp"
#include "tools/roof/command_line.hpp"
#include "tools/roof/console/process.hpp"

#include <iostream>

int main(int count, char** words)
{
    const roof::ExitGuard exit_guard;
    const roof::InterruptGuard interrupt;
    const roof::fakes::ManualClock clock;
    return roof::run_command_line({words + 1, words + count},
                                  {.out = std::cout,
                                   .err = std::cerr,
                                   .assemble = [&] { return roof::fakes::fake_registry(clock); },
                                   .clock = clock.clock(),
                                   .terminal = {},
                                   .interrupted = [&] { return interrupt.raised(); },
                                   .results = "results"});
}
