// roof: compares training steps with the machine's measured ceilings. commands/commands.hpp lists the subcommands.
#include "tools/roof/binary/binary.hpp"
#include "tools/roof/command_line.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/console/process.hpp"
#include "tools/roof/openmp_variables.hpp"

#include <iostream>

int main(int count, char** words)
{
    roof::restore_openmp_variables();
    const roof::ExitGuard exit_guard;
    roof::survive_file_limits();
    return roof::run_command_line({words + 1, words + count},
                                  {.out = std::cout,
                                   .err = std::cerr,
                                   .assemble = roof::assemble,
                                   .clock = roof::steady_clock(),
                                   .terminal = roof::detect_terminal(),
                                   .interrupted = roof::InterruptGuard::raised,
                                   .results = roof::results_folder(roof::environment_variable, "."),
                                   .start_again = [&] { roof::start_again(words); }});
}
