// Runs the command that the arguments name, and converts exceptions into messages and exit statuses:
//   0 all measured   1 some row failed   2 the input was wrong   130 interrupted
#pragma once

#include "tools/roof/console/context.hpp"

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace roof {

/// What a command needs from its process. The registry is assembled after the options were parsed.
struct Environment {
    std::ostream& out;
    std::ostream& err;
    std::function<BenchRegistry()> assemble;
    Clock clock;
    Terminal terminal;
    std::function<bool()> interrupted;
    std::filesystem::path results;
    std::function<void()> start_again{};  ///< as in Context
};

/// `arguments` without the program's name. Never throws.
int run_command_line(const std::vector<std::string>& arguments, const Environment& environment);

}  // namespace roof
