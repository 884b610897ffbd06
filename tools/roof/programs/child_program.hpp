// Runs other programs, attached to our streams or to read their output.
#pragma once

#include "tools/roof/console/context.hpp"

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace roof {

/// Runs `words` with our standard input, output and error, and with `variables` added to the environment. Forwards
/// signals to it and returns its exit status. As in a shell: 128 plus the number of a signal that ended it, 127 if
/// there is no such program, 126 if it cannot be run. For the last two `problem` is set to the reason.
int run_child(const std::vector<std::string>& words, const std::map<std::string, std::string>& variables,
              std::string& problem);

/// The same for a program that ran already, or whose output is for us: it goes into two files. The program reads our
/// standard input again if that is a file, else nothing. `meanwhile` is called each second.
int run_again(const std::vector<std::string>& words, const std::map<std::string, std::string>& variables,
              std::string& problem, const std::function<void()>& meanwhile = {},
              const std::filesystem::path& output = "/dev/null", const std::filesystem::path& errors = "/dev/null");

/// A program whose standard output and error go into a file.
struct ChildProgram {
    std::vector<std::string> words;
    std::filesystem::path log;
};

/// Runs all of them at once. Forwards signals to them, and returns their largest exit status, each as of run_child().
/// Throws Error, after the others have ended, if one cannot be started.
int run_children(const std::vector<ChildProgram>& programs);

/// Returns the standard output of a command. Throws Error if it cannot be run or fails.
std::string run_program(const std::vector<std::string>& words);

/// The program of that name in the absolute folders of PATH; empty if there is none. A relative folder may be
/// anybody's.
std::string installed(const std::string& program);

// The commands that read the files and models of other tools are those of the Python package `roof` (tools/python).
// The two sides share files alone.

/// Runs `command` of the package with these arguments, on our streams, and returns its exit status; the signal that
/// ended it, or by which it says so with 128 + n, ends this process, too. The package is found from this
/// program's own place: around it in a wheel, in ../python of a build, in ../lib/roof/python of an installation. Its
/// interpreter is the one that ROOF_PYTHON names, else the first python3 in an absolute folder of PATH. Throws
/// InputError that says how to get what is missing.
int run_in_package(const std::string& command, const std::vector<std::string>& arguments);

// A temporary folder, for the files of other programs or of a measurement that leaves none.

/// A new folder in TMPDIR, or where that cannot be written in /tmp, /var/tmp or the working folder; the destructor
/// removes it with all that is in it.
class Scratch {
  public:
    /// `prefix`: how the folder's name begins. Throws InputError if none of them takes a folder.
    explicit Scratch(const std::string& prefix = "roof-simulate-");
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

/// What lies in a folder under a name that begins so: of two numbers the lesser first.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, std::string_view begin);

/// A time limit that also ends what does not answer, such as a driver: ends the process with `status` when the time is
/// over, whatever its other threads do: prints `text` on standard output, and removes `scratch`.
class TimeLimit {
  public:
    TimeLimit(int seconds, int status, std::string text, std::filesystem::path scratch);
    ~TimeLimit();
    TimeLimit(const TimeLimit&) = delete;
    TimeLimit& operator=(const TimeLimit&) = delete;

    /// Set while run_children() forwards signals: they are ended first.
    std::atomic<bool> forwards{false};

  private:
    void wait(int seconds, int status, const std::string& text, const std::filesystem::path& scratch);

    std::mutex mutex_{};
    std::condition_variable ended_{};
    bool has_ended_ = false;
    std::thread thread_;
};

// Measures a step in further processes, one after another, which get pages and places of their own.

/// As Context::measured_anew: by `roof sweep` in a folder of its own, whose samples are a process's share.
std::function<std::optional<Measurement>()> measured_anew(const Item& item);

}  // namespace roof
