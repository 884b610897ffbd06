// What every subcommand is given: the registry, the clock, where results and messages go, and whether a person wants to stop.
// Tests pass a fake registry, a clock turned by hand and string streams.
#pragma once

#include "ert/method/bench/bench_registry.hpp"
#include "ert/method/bench/clock.hpp"
#include "tools/roof/console/terminal.hpp"

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>

namespace roof {

struct Context {
    const BenchRegistry& registry;
    const Clock& clock;
    std::ostream& out;  ///< results, and nothing else
    std::ostream& err;  ///< progress and messages
    Terminal terminal;
    std::function<bool()> interrupted = [] { return false; };
    std::string command_line = "roof";  ///< as typed, for "continue with:"
    std::filesystem::path results = "results";
};

}  // namespace roof
