#include "ert/base/python_libraries.hpp"

#include "ert/base/files.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace roof {
namespace {

namespace fs = std::filesystem;

/// Folders in `place` whose names begin so, in order.
std::vector<fs::path> folders_in(const fs::path& place, const std::string& beginning)
{
    std::vector<fs::path> found;
    std::error_code unread;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, unread))
        if (entry.path().filename().string().starts_with(beginning) && entry.is_directory(unread))
            found.push_back(entry.path());
    std::ranges::sort(found);
    return found;
}

void add_packages(const fs::path& packages, std::vector<fs::path>& folders)
{
    std::error_code unread;
    std::vector<fs::path> with_libraries = folders_in(packages / "nvidia", "");
    with_libraries.push_back(packages / "torch");
    for (const fs::path& folder : with_libraries)
        if (const fs::path real = fs::canonical(folder / "lib", unread); !unread) folders.push_back(real);
}

}  // namespace

const std::vector<fs::path>& python_library_folders()
{
    static const std::vector<fs::path> folders = [] {
        std::vector<fs::path> all;
        std::vector<fs::path> prefixes;
        // A relative path would be of the folder that the program happens to run in.
        for (const auto& [variable, below] : {std::pair{"VIRTUAL_ENV", ""}, {"CONDA_PREFIX", ""}, {"HOME", ".local"}})
            if (const char* const value = std::getenv(variable); value != nullptr && fs::path(value).is_absolute())
                prefixes.push_back(fs::path(value) / below);
        prefixes.insert(prefixes.end(), {"/usr/local", "/usr"});
        for (const fs::path& prefix : prefixes)
            for (const fs::path& python : folders_in(prefix / "lib", "python3"))
                for (const char* const packages : {"site-packages", "dist-packages"})
                    add_packages(python / packages, all);
        return all;
    }();
    return folders;
}

fs::path python_library(const std::string& name)
{
    std::error_code unread;
    for (const fs::path& folder : python_library_folders())
        if (fs::exists(folder / name, unread)) return folder / name;
    return {};
}

std::vector<std::string> loaded_python_libraries()
{
    std::vector<std::string> found;
    std::ifstream maps = open_if_there("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        const std::size_t at = line.find('/');
        if (at == std::string::npos) continue;
        const fs::path file(line.substr(at));
        const auto& folders = python_library_folders();
        if (std::ranges::find(folders, file.parent_path()) == folders.end()) continue;
        const std::string text = file.filename().string() + " of " + file.parent_path().string();
        if (std::ranges::find(found, text) == found.end()) found.push_back(text);
    }
    return found;
}

}  // namespace roof
