// The input of every subcommand: registry, clock, output streams, results folder, and whether an interrupt was
// requested. Tests pass a fake registry, a manual clock and string streams.
#pragma once

#include "ert/method/bench/bench_registry.hpp"
#include "ert/method/bench/clock.hpp"
#include "tools/roof/console/terminal.hpp"

#include <filesystem>
#include <functional>
#include <ostream>
#include <set>
#include <string>

namespace roof {

struct Context {
    const BenchRegistry& registry;
    const Clock& clock;
    std::ostream& out;  ///< results only
    std::ostream& err;  ///< progress and messages
    Terminal terminal;  ///< of standard output
    std::function<bool()> interrupted = [] { return false; };
    std::string command_line = "roof";  ///< as typed, for "continue with:"
    std::filesystem::path results = "results";
    /// Runs the same command in a new process instead of this one; returns only if that fails. May be empty.
    std::function<void()> start_again{};
    Terminal messages{};           ///< of standard error
    int status = 0;                ///< the least exit status: 1 after reading a damaged folder
    std::set<std::string> told{};  ///< on `err`, once each
};

}  // namespace roof
