// roof with the fake registry: a sweep takes milliseconds, and its rows are the same each time. With --serve it runs
// many commands, each in a child of this process: a line of standard input has a number of a user, a folder, files for
// the two streams and the words, separated by U+001F, and is answered by the exit status, or by minus the number of
// the signal.
#include "ert/base/text.hpp"
#include "tests/fakes/fake_registry.hpp"
#include "tools/roof/command_line.hpp"
#include "tools/roof/console/process.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <streambuf>
#include <string>
#include <vector>

namespace {

/// Standard error by calls that a shared object can replace, so that what is said has a place among the changes of
/// files.
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

int run(const std::vector<std::string>& words)
{
    const roof::ExitGuard exit_guard;
    roof::prepare_signals();
    const roof::fakes::ManualClock clock;
    PlainError plain;
    std::ostream err(&plain);
    return roof::run_command_line(words, {.out = std::cout,
                                          .err = err,
                                          .assemble = [&] { return roof::fakes::fake_registry(clock); },
                                          .clock = clock.clock(),
                                          .terminal = {},
                                          .interrupted = roof::InterruptGuard::raised,
                                          .results = "results"});
}

[[noreturn]] void become(const std::vector<std::string>& fields)
{
    constexpr std::size_t first_word = 4;
    constexpr unsigned longest = 600;  // seconds, of a busy machine
    constexpr int unusable = 70;
    const auto user = static_cast<uid_t>(std::stoul(fields[0]));
    const bool has_streams = ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO) >= 0 &&
                             ::dup2(::open(fields[2].c_str(), O_WRONLY), STDOUT_FILENO) >= 0 &&
                             ::dup2(::open(fields[3].c_str(), O_WRONLY), STDERR_FILENO) >= 0;
    const bool is_user =
        ::geteuid() == user || (::setgroups(0, nullptr) == 0 && ::setgid(user) == 0 && ::setuid(user) == 0);
    if (!has_streams || !is_user || ::chdir(fields[1].c_str()) != 0) std::_Exit(unusable);
    ::prctl(PR_SET_DUMPABLE, 1);  // as a program that this user has started
    ::alarm(longest);
    std::exit(run({fields.begin() + first_word, fields.end()}));
}

int serve()
{
    for (std::string line; std::getline(std::cin, line);) {
        const pid_t child = ::fork();
        if (child == 0) become(roof::split(line, '\x1f'));
        int status = 0;
        if (child < 0 || ::waitpid(child, &status, 0) != child) return EXIT_FAILURE;
        std::cout << (WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status)) << std::endl;
    }
    return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** words)
{
    const std::vector<std::string> given(words + 1, words + count);
    return given == std::vector<std::string>{"--serve"} ? serve() : run(given);
}
