// roof: compares training steps with the machine's measured ceilings. commands/commands.hpp lists the subcommands.
#include "ert/base/process.hpp"
#include "tools/roof/binary/binary.hpp"
#include "tools/roof/command_line.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/console/process.hpp"
#include "tools/roof/programs/child_program.hpp"

#include <unistd.h>
#include <ext/stdio_filebuf.h>

#include <iostream>

int main(int count, char** words)
{
    roof::restore_openmp_variables();
    const roof::ExitGuard exit_guard;
    roof::keep_own_output();
    roof::prepare_signals();
    __gnu_cxx::stdio_filebuf<char> buffer(roof::own_output(), std::ios::out);
    std::ostream out(&buffer);
    out << std::unitbuf;  // a library may end the process
    return roof::run_command_line({words + 1, words + count},
                                  {.out = out,
                                   .err = std::cerr,
                                   .assemble = roof::assemble,
                                   .clock = roof::steady_clock(),
                                   .terminal = roof::detect_terminal(roof::own_output()),
                                   .interrupted = roof::InterruptGuard::raised,
                                   .results = roof::results_folder(roof::environment_variable, "."),
                                   .start_again = [&] { roof::start_again(words); },
                                   .messages = roof::detect_terminal(STDERR_FILENO),
                                   .measured_anew = roof::measured_anew});
}
