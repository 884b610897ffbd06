#include "tools/roof/programs/python_package.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tools/roof/programs/child_program.hpp"

#include <signal.h>

#include <cstdlib>
#include <filesystem>

namespace roof {
namespace {

namespace fs = std::filesystem;

/// The file that Python runs; empty if there is no package.
fs::path package_beside(const fs::path& program_folder)
{
    std::error_code none;
    if (program_folder.parent_path().filename() == "program") {  // of a wheel
        const fs::path main = program_folder.parent_path().parent_path() / "__main__.py";
        if (fs::exists(main, none)) return main;
    }
    for (const char* place : {"../python", "../lib/roof/python"}) {
        const fs::path main = (program_folder / place / "roof/__main__.py").lexically_normal();
        if (fs::exists(main, none)) return main;
    }
    return {};
}

}  // namespace

int run_in_package(const std::string& command, const std::vector<std::string>& arguments)
{
    const fs::path program = program_path();
    const fs::path package = package_beside(program.parent_path());
    if (package.empty())
        throw InputError("roof " + command +
                         " is a command of the Python package, which does not lie beside this program: `pip install "
                         "measured-roof` brings both");
    const char* const named = std::getenv("ROOF_PYTHON");
    const std::string python = named != nullptr && *named != '\0' ? named : installed("python3");
    if (python.empty())
        throw InputError("roof " + command + " needs Python: no python3 was found (apt-get install python3)");
    std::vector<std::string> words{python, package, command};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::string problem;
    sigset_t interrupt{};
    sigset_t before{};
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, &before);  // until roof/__main__.py is ready to end by it
    const int status =
        run_child(words, {{"ROOF_PROGRAM", program}, {"PYTHONHOME", ""}, {"PYTHONINSPECT", ""}}, problem);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!problem.empty()) throw InputError(problem);
    constexpr int signalled = 128;
    if (status > signalled) {
        ::signal(status - signalled, SIG_DFL);
        ::raise(status - signalled);
    }
    return status;
}

}  // namespace roof
