#include "workloads/parallel/processes.hpp"

#include "ert/base/error.hpp"
#include "workloads/parallel/place.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>

namespace roof::parallel {
namespace {

/// The environment of a rank: this process's own with the variables of ranks replaced.
std::vector<std::string> environment_of(int rank, int ranks, int descriptor)
{
    const std::vector<std::string> said{std::string(rank_variable) + "=", std::string(ranks_variable) + "=",
                                        std::string(memory_variable) + "="};
    std::vector<std::string> all{said[0] + std::to_string(rank), said[1] + std::to_string(ranks),
                                 said[2] + std::to_string(descriptor)};
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        if (text.starts_with(said[0]) || text.starts_with(said[1]) || text.starts_with(said[2])) continue;
        all.push_back(text);
    }
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& words)
{
    std::vector<char*> all;
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
}

/// File actions of a new process: standard output goes to /dev/null, since it is rank 0's alone, and the memory stays
/// open.
class Files {
  public:
    explicit Files(int descriptor)
    {
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_adddup2(&actions_, descriptor, descriptor);
    }
    ~Files() { posix_spawn_file_actions_destroy(&actions_); }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;
    const posix_spawn_file_actions_t* get() const { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_{};
};

pid_t spawn(const std::filesystem::path& program, int rank, int ranks, int descriptor)
{
    std::vector<std::string> words{program.string(), "rank"};
    std::vector<std::string> environment = environment_of(rank, ranks, descriptor);
    const Files files(descriptor);
    pid_t id = -1;
    const int status =
        posix_spawn(&id, program.c_str(), files.get(), nullptr, pointers(words).data(), pointers(environment).data());
    if (status != 0)
        throw Error("rank " + std::to_string(rank) + " cannot be started: " + program.string() + ": " +
                    std::strerror(status));
    return id;
}

std::string how_it_ended(int status)
{
    if (WIFSIGNALED(status))
        return "was ended by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
    return "ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Processes::Processes(std::shared_ptr<SharedMemory> memory, const std::filesystem::path& program)
    : memory_(std::move(memory))
{
    const int ranks = memory_->ranks();
    try {
        for (int rank = 1; rank < ranks; ++rank)
            all_.push_back({spawn(program, rank, ranks, memory_->descriptor()), rank});
    } catch (const Error& error) {
        memory_->fail(error.what());
        throw;
    }
}

Processes::~Processes()
{
    constexpr int max_rounds = 500;  // times 10 ms
    for (int round = 0; round < max_rounds; ++round) {
        bool all_ended = true;
        for (Process& process : all_) all_ended = reap(process) && all_ended;
        if (all_ended) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    for (const Process& process : all_) {
        if (process.id < 0) continue;
        kill(process.id, SIGKILL);
        waitpid(process.id, nullptr, 0);
    }
}

void Processes::check()
{
    const std::lock_guard lock(mutex_);
    for (Process& process : all_) {
        int status = 0;
        if (process.id < 0 || waitpid(process.id, &status, WNOHANG) != process.id) continue;
        process.id = -1;
        memory_->fail("rank " + std::to_string(process.rank) + " " + how_it_ended(status));
    }
}

bool Processes::reap(Process& process) const
{
    if (process.id >= 0 && waitpid(process.id, nullptr, WNOHANG) == process.id) process.id = -1;
    return process.id < 0;
}

}  // namespace roof::parallel
