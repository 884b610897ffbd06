// The input of every subcommand: registry, clock, output streams, results folder, and whether an interrupt was
// requested. Tests pass a fake registry, a manual clock and string streams.
#pragma once

#include "ert/method/bench/bench_registry.hpp"
#include "ert/method/bench/clock.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/plan/plan.hpp"
#include "tools/roof/console/terminal.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <set>
#include <string>

namespace roof {

/// What a command needs from its process.
struct Environment {
    std::ostream& out;                        ///< results only
    std::ostream& err;                        ///< progress and messages
    std::function<BenchRegistry()> assemble;  ///< called after the options were parsed
    Clock clock;
    Terminal terminal;  ///< of standard output
    std::function<bool()> interrupted = [] { return false; };
    std::filesystem::path results = "results";
    /// Runs the same command in a new process instead of this one; returns only if that fails. May be empty.
    std::function<void()> start_again{};
    Terminal messages{};  ///< of standard error
    /// Called before a step is measured here. Each call of the result measures it once more, in a new process, which
    /// takes the choices of algorithms that were made here; nullopt if that failed. Throws Interrupted. May be empty.
    std::function<std::function<std::optional<Measurement>()>(const Item& item)> measured_anew{};
};

struct Context : Environment {
    const BenchRegistry& registry;
    std::string command_line = "roof";  ///< as typed, for "continue with:"
    int status = 0;                     ///< the least exit status: 1 after reading a damaged folder
    std::set<std::string> told{};       ///< on `err`, once each
};

}  // namespace roof
