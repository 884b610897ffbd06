// roof with the fake registry: a sweep takes milliseconds, and its rows are the same each time.
#include "tests/fakes/fake_registry.hpp"
#include "tools/roof/command_line.hpp"
#include "tools/roof/console/process.hpp"

#include <unistd.h>

#include <iostream>
#include <streambuf>

namespace {

/// Standard error by calls that a shared object can replace, so that what is said has a place among the changes of files.
class PlainError : public std::streambuf {
    int overflow(int letter) override
    {
        const char one = static_cast<char>(letter);
        return xsputn(&one, 1) == 1 ? letter : traits_type::eof();
    }
    std::streamsize xsputn(const char* text, std::streamsize size) override
    {
        return ::write(STDERR_FILENO, text, static_cast<std::size_t>(size));
    }
};

}  // namespace

int main(int count, char** words)
{
    const roof::ExitGuard exit_guard;
    roof::prepare_signals();
    const roof::fakes::ManualClock clock;
    PlainError plain;
    std::ostream err(&plain);
    return roof::run_command_line({words + 1, words + count},
                                  {.out = std::cout,
                                   .err = err,
                                   .assemble = [&] { return roof::fakes::fake_registry(clock); },
                                   .clock = clock.clock(),
                                   .terminal = {},
                                   .interrupted = roof::InterruptGuard::raised,
                                   .results = "results"});
}
