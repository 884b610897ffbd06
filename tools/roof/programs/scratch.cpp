#include "tools/roof/programs/scratch.hpp"

#include "ert/base/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace roof {

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

}  // namespace roof
