// From the words a person typed to an exit status: the one place where exceptions become messages.
//   0 all measured   1 some row failed   2 the input was wrong   130 interrupted
#pragma once

#include "tools/roof/console/context.hpp"

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace roof {

/// What a command needs of the world around it. The registry is made only once the options are known to be right.
struct Surroundings {
    std::ostream& out;
    std::ostream& err;
    std::function<BenchRegistry()> assemble;
    Clock clock;
    Terminal terminal;
    std::function<bool()> interrupted;
    std::filesystem::path results;
};

/// `arguments` without the program's name. Never throws.
int run_command_line(const std::vector<std::string>& arguments, const Surroundings& around);

}  // namespace roof
