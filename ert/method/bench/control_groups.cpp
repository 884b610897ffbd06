#include "ert/method/bench/control_groups.hpp"

#include "ert/base/files.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <fstream>

namespace roof {

namespace fs = std::filesystem;

std::vector<fs::path> control_groups(const std::string& controller, const fs::path& system)
{
    std::ifstream in = open_if_there(system / "proc/self/cgroup");
    for (std::string line; std::getline(in, line);) {
        const std::size_t controllers = line.find(':') + 1;
        const std::size_t path = line.find(':', controllers) + 1;
        if (controllers == 0 || path == 0) continue;
        const std::vector<std::string> names = split(line.substr(controllers, path - 1 - controllers), ',');
        if (std::ranges::find(names, controller) == names.end()) continue;
        const fs::path root = system / "sys/fs/cgroup" / controller;
        std::vector<fs::path> folders;
        for (fs::path group = fs::path(line.substr(path)).relative_path(); !group.empty(); group = group.parent_path())
            folders.push_back(root / group);
        folders.push_back(root);
        return folders;
    }
    return {};
}

}  // namespace roof
