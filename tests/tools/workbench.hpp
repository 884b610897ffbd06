// Runs command lines in a test: arguments in; status, standard output and standard error out. It has the fake registry,
// a manual clock and a temporary results folder.
#pragma once

#include "tests/fakes/fake_registry.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tools/roof/command_line.hpp"

#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace roof::tests {

struct Said {
    int status = 0;
    std::string out;
    std::string err;
};

/// The fake registry of a build without the GPU part.
inline BenchRegistry registry_without_gpu(const fakes::ManualClock& clock)
{
    BenchRegistry registry = fakes::fake_registry(clock);
    registry.add(
        AbsentPart{"gpu", "this build has no GPU part", "", "allreduce ert latency launch link matmul peer shared"});
    return registry;
}

struct Workbench {
    fakes::TemporaryFolder folder{};
    fakes::ManualClock clock;
    Terminal terminal;
    std::optional<Terminal> messages{};  ///< as `terminal` if empty
    std::function<bool()> interrupted = [] { return false; };

    std::string path(const std::string& name) const { return folder / name; }

    Said roof(const std::vector<std::string>& words) const
    {
        std::ostringstream out;
        std::ostringstream err;
        const int status = run_command_line(words, {.out = out,
                                                    .err = err,
                                                    .assemble = [this] { return registry_without_gpu(clock); },
                                                    .clock = clock.clock(),
                                                    .terminal = terminal,
                                                    .interrupted = interrupted,
                                                    .results = folder / "results",
                                                    .messages = messages.value_or(terminal)});
        return {status, out.str(), err.str()};
    }
};

/// An axis that accepts any text.
inline Axis words(const std::string& name, const std::string& usual)
{
    return {name, "anything", {usual}, {}};
}

/// Interrupts at the n-th query.
inline std::function<bool()> interrupt_at(int n)
{
    return [n, asked = 0]() mutable { return ++asked >= n; };
}

}  // namespace roof::tests
