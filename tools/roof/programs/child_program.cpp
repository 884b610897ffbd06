#include "tools/roof/programs/child_program.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/process.hpp"
#include "ert/base/text.hpp"
#include "ert/method/plan/measure.hpp"
#include "ert/method/results/results.hpp"
#include "tools/roof/console/terminal.hpp"
#include "tools/roof/session/plans.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

namespace roof {

namespace {

namespace fs = std::filesystem;

constexpr int not_found = 127;
constexpr int not_runnable = 126;
constexpr int signalled = 128;
constexpr mode_t readable = 0644;

/// Blocks signals while it exists, so that next() can wait for them; the child starts with the previous mask.
class HeldSignals {
  public:
    HeldSignals()
    {
        sigemptyset(&held_);
        for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
            sigaddset(&held_, number);
        pthread_sigmask(SIG_BLOCK, &held_, &before_);
        posix_spawnattr_init(&attributes_);
        posix_spawnattr_setsigmask(&attributes_, &before_);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
    }
    ~HeldSignals()
    {
        posix_spawnattr_destroy(&attributes_);
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

    const posix_spawnattr_t* attributes() const { return &attributes_; }
    /// As if a child had changed after a second without a signal.
    siginfo_t next() const
    {
        constexpr timespec second{1, 0};
        siginfo_t signal{};
        if (sigtimedwait(&held_, &signal, &second) < 0) signal.si_signo = SIGCHLD;
        return signal;
    }

  private:
    sigset_t held_{};
    sigset_t before_{};
    posix_spawnattr_t attributes_{};
};

/// Ctrl-C and Ctrl-\ at a terminal, which the kernel sends, reach the child directly.
bool is_forwarded(const siginfo_t& signal)
{
    const bool is_of_keys = signal.si_signo == SIGINT || signal.si_signo == SIGQUIT;
    return signal.si_signo != SIGCHLD && !(is_of_keys && signal.si_code == SI_KERNEL);
}

/// `children` get the signals meanwhile: processes that nobody has waited for.
int wait_for(pid_t child, const HeldSignals& signals, std::span<const pid_t> children,
             const std::function<void()>& meanwhile = {})
{
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
        const siginfo_t signal = signals.next();
        if (meanwhile) meanwhile();
        if (!is_forwarded(signal)) continue;
        for (const pid_t one : children) ::kill(one, signal.si_signo);
    }
    return WIFSIGNALED(status) ? signalled + WTERMSIG(status) : WEXITSTATUS(status);
}

int run(const std::vector<std::string>& words, const std::map<std::string, std::string>& variables,
        const posix_spawn_file_actions_t* actions, std::string& problem, const std::function<void()>& meanwhile = {})
{
    const HeldSignals signals;
    pid_t child = 0;
    const int error = start_process(child, words, variables, actions, signals.attributes());
    if (error == 0) return wait_for(child, signals, std::span(&child, 1), meanwhile);
    problem = "cannot run '" + words.front() + "': " + std::strerror(error);
    return error == ENOENT ? not_found : not_runnable;
}

/// The folders of a search path, without those that depend on the folder where the program happens to run.
std::vector<std::string> absolute_folders(const char* variable, const char* usual)
{
    const char* const path = std::getenv(variable);
    std::vector<std::string> folders = split(path == nullptr ? usual : path, ':');
    std::erase_if(folders, [](const std::string& folder) { return !folder.starts_with('/'); });
    return folders;
}

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

int run_child(const std::vector<std::string>& words, const std::map<std::string, std::string>& variables,
              std::string& problem)
{
    return run(words, variables, nullptr, problem);
}

int run_again(const std::vector<std::string>& words, const std::map<std::string, std::string>& variables,
              std::string& problem, const std::function<void()>& meanwhile, const fs::path& output,
              const fs::path& errors)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const auto& [stream, file] : {std::pair{STDOUT_FILENO, &output}, {STDERR_FILENO, &errors}})
        posix_spawn_file_actions_addopen(&actions, stream, file->c_str(), O_WRONLY | O_CREAT | O_TRUNC, readable);
    if (::lseek(STDIN_FILENO, 0, SEEK_SET) != 0)  // no file that can be read again
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    const int status = run(words, variables, &actions, problem, meanwhile);
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

int run_children(const std::vector<ChildProgram>& programs)
{
    const HeldSignals signals;
    std::vector<pid_t> children;
    std::string problem;
    for (const ChildProgram& program : programs) {
        posix_spawn_file_actions_t actions{};
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, program.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                         readable);
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
        pid_t child = 0;
        const int error = start_process(child, program.words, {}, &actions, signals.attributes());
        posix_spawn_file_actions_destroy(&actions);
        if (error == 0)
            children.push_back(child);
        else
            problem = "cannot run '" + program.words.front() + "': " + std::strerror(error);
    }
    int status = 0;
    for (std::size_t i = 0; i < children.size(); ++i)
        status = std::max(status, wait_for(children[i], signals, std::span(children).subspan(i)));
    if (!problem.empty()) throw Error(problem);
    return status;
}

std::string run_program(const std::vector<std::string>& words)
{
    const auto close = [](FILE* pipe) { pclose(pipe); };
    std::unique_ptr<FILE, decltype(close)> pipe(popen((shell_line(words) + " 2>/dev/null").c_str(), "r"), close);
    if (pipe == nullptr) throw Error(words.front() + " cannot be started");
    std::string output;
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;)
        output.append(buffer.data(), n);
    const int status = pclose(pipe.release());
    if (status != 0)
        throw Error(fmt::format("'{}' ended with status {}", shell_line(words),
                                WIFEXITED(status) ? WEXITSTATUS(status) : status));
    return output;
}

std::string installed(const std::string& program)
{
    std::error_code none;
    for (const fs::path folder : absolute_folders("PATH", "/usr/bin"))
        if (const fs::path file = folder / program;
            fs::is_regular_file(file, none) && ::access(file.c_str(), X_OK) == 0)
            return file;
    return {};
}

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
    const int status = run_child(words,
                                 {{"ROOF_PROGRAM", program},
                                  {"PYTHONHOME", ""},
                                  {"PYTHONINSPECT", ""},
                                  {"PYTHONPATH", join(absolute_folders("PYTHONPATH", ""), ":")}},
                                 problem);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (!problem.empty()) throw InputError(problem);
    if (status > signalled) {
        ::signal(status - signalled, SIG_DFL);
        ::raise(status - signalled);
    }
    return status;
}

Scratch::Scratch(const std::string& prefix)
{
    const char* const chosen = std::getenv("TMPDIR");
    for (const std::filesystem::path folder : {chosen == nullptr ? "" : chosen, "/tmp", "/var/tmp", "."}) {
        std::string pattern = (folder / (prefix + "XXXXXX")).string();
        if (folder.empty() || ::mkdtemp(pattern.data()) == nullptr) continue;
        path_ = std::filesystem::absolute(pattern);
        return;
    }
    throw InputError("no temporary folder can be made in TMPDIR, /tmp, /var/tmp or the working folder (" +
                     std::string(std::strerror(errno)) + ")");
}

Scratch::~Scratch()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, std::string_view begin)
{
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().filename().string().starts_with(begin)) found.push_back(entry.path());
    std::ranges::sort(found, {}, [](const auto& path) { return std::pair(path.native().size(), path); });
    return found;
}

namespace {

/// The file to which the first process writes its choices of algorithms and from which the others take them.
constexpr const char* variable = "ROOF_CHOICES";

class Processes {
  public:
    explicit Processes(Item item)
    {
        item.stopping = of_one_process(item.stopping);
        write_file(plan(), plan_of(item));
        ::setenv(variable, (scratch_.path() / "choices.csv").c_str(), 1);
    }
    ~Processes() { ::unsetenv(variable); }
    Processes(const Processes&) = delete;
    Processes& operator=(const Processes&) = delete;

    std::optional<Measurement> next()
    {
        constexpr int interrupted_status = 130;
        const std::filesystem::path out = scratch_.path() / std::to_string(++started_);
        std::string problem;
        const int status = run_again({program_path().string(), "sweep", plan().string(), "--out", out.string()},
                                     {{"ROOF_RESULTS", scratch_.path().string()}}, problem);
        if (status == interrupted_status) throw Interrupted();
        if (status != 0) return std::nullopt;
        const std::vector<Measurement> rows = read_results(out).rows;
        if (rows.size() != 1 || rows.front().status != Status::ok) return std::nullopt;
        return rows.front();
    }

  private:
    std::filesystem::path plan() const { return scratch_.path() / "plan.yaml"; }

    Scratch scratch_{"roof-process-"};
    int started_ = 0;
};

}  // namespace

std::function<std::optional<Measurement>()> measured_anew(const Item& item)
{
    return [processes = std::make_shared<Processes>(item)] { return processes->next(); };
}

TimeLimit::TimeLimit(int seconds, int status, std::string text, fs::path scratch)
    : thread_([this, seconds, status, text = std::move(text), scratch = std::move(scratch)] {
          wait(seconds, status, text, scratch);
      })
{
}

TimeLimit::~TimeLimit()
{
    {
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
    }
    ended_.notify_all();
    thread_.join();
}

void TimeLimit::wait(int seconds, int status, const std::string& text, const fs::path& scratch)
{
    sigset_t term;  // not for this thread: the one that forwards it waits for it
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, nullptr);
    std::unique_lock lock(mutex_);
    if (ended_.wait_for(lock, std::chrono::seconds(seconds), [this] { return has_ended_; })) return;
    [[maybe_unused]] const auto written = write(own_output(), text.data(), text.size());
    if (forwards) {
        constexpr auto to_end = std::chrono::milliseconds(500);
        kill(getpid(), SIGTERM);
        std::this_thread::sleep_for(to_end);
    }
    std::error_code ignored;
    fs::remove_all(scratch, ignored);
    std::_Exit(status);
}

}  // namespace roof
