// Runs other programs, attached to our streams or to read their output.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace roof {

/// Runs `words` with our standard input, output and error, and with `variables` added to the environment. Forwards
/// signals to it and returns its exit status. As in a shell: 128 plus the number of a signal that ended it, 127 if
/// there is no such program, 126 if it cannot be run. For the last two `problem` is set to the reason.
int run_child(const std::vector<std::string>& words, const std::map<std::string, std::string>& variables,
              std::string& problem);

/// The same for a program that ran already: its output is dropped. It reads our standard input again if that is a file, else nothing.
/// `meanwhile` is called each second.
int run_again(const std::vector<std::string>& words, const std::map<std::string, std::string>& variables,
              std::string& problem, const std::function<void()>& meanwhile = {});

/// A program whose standard output and error go into a file.
struct ChildProgram {
    std::vector<std::string> words;
    std::filesystem::path log;
};

/// Runs all of them at once. Forwards signals to them, and returns their largest exit status, each as of run_child(). Throws Error, after the
/// others have ended, if one cannot be started.
int run_children(const std::vector<ChildProgram>& programs);

/// Returns the standard output of a command. Throws Error if it cannot be run or fails.
std::string run_program(const std::vector<std::string>& words);

/// The program of that name in the absolute folders of PATH; empty if there is none. A relative folder may be anybody's.
std::string installed(const std::string& program);

}  // namespace roof
