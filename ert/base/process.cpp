#include "ert/base/process.hpp"

#include "ert/base/error.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace roof {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words)
{
    std::vector<char*> made;
    for (std::string& word : words) made.push_back(word.data());
    made.push_back(nullptr);
    return made;
}

}  // namespace

int start_process(pid_t& id, std::vector<std::string> words, const std::map<std::string, std::string>& variables,
                  const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes)
{
    std::vector<std::string> lines;
    for (char** line = environ; *line != nullptr; ++line) {
        const std::string text = *line;
        if (!variables.contains(text.substr(0, text.find('=')))) lines.push_back(text);
    }
    for (const auto& [name, value] : variables) lines.push_back(name + "=" + value);
    posix_spawn_file_actions_t usual{};
    posix_spawn_file_actions_init(&usual);
    if (own_output() != STDOUT_FILENO) posix_spawn_file_actions_adddup2(&usual, own_output(), STDOUT_FILENO);
    const int error = ::posix_spawnp(&id, words.front().c_str(), actions == nullptr ? &usual : actions, attributes,
                                     pointers(words).data(), pointers(lines).data());
    posix_spawn_file_actions_destroy(&usual);
    return error;
}

void require_generated_code()
{
    constexpr std::size_t bytes = 4096;
    void* const page = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    *static_cast<volatile char*>(page) = 0;
    const bool is_allowed = ::mprotect(page, bytes, PROT_READ | PROT_EXEC) == 0;
    ::munmap(page, bytes);
    if (!is_allowed)
        throw Unsupported(
            "this system lets no program run code that it has written (systemd's MemoryDenyWriteExecute, SELinux's "
            "deny_execmem), and this measures generated code");
}

}  // namespace roof
