#include "ert/base/process.hpp"

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
    return ::posix_spawnp(&id, words.front().c_str(), actions, attributes, pointers(words).data(),
                          pointers(lines).data());
}

}  // namespace roof
