#include "ert/method/bench/available_memory.hpp"

#include "ert/base/files.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace roof {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

std::optional<double> number_in(const std::filesystem::path& file)
{
    std::ifstream in = open_if_there(file);
    double value = 0;
    if (in >> value) return value;
    return std::nullopt;  // absent, or "max"
}

/// The value after a key, as in meminfo and memory.stat.
std::optional<double> number_after(const std::filesystem::path& file, const std::string& word)
{
    std::ifstream in = open_if_there(file);
    for (std::string key; in >> key;) {
        double value = 0;
        if (key == word && in >> value) return value;
        in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return std::nullopt;
}

/// The usage of a group includes cached files that the kernel can drop.
struct GroupFiles {
    std::string limit, usage, idle_files;
};

double left_of(const std::filesystem::path& group, const GroupFiles& files)
{
    const std::optional<double> limit = number_in(group / files.limit);
    if (!limit) return unlimited;
    const double idle = number_after(group / "memory.stat", files.idle_files).value_or(0);
    return std::max(0.0, *limit - number_in(group / files.usage).value_or(0) + idle);
}

/// Limits of parent groups apply, too. In a container this process's path may be invisible and the mount's root is its
/// group, so all groups from the path up to the root are read.
double left_of_group()
{
    const GroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
    const GroupFiles version_2{"memory.max", "memory.current", "inactive_file"};
    double left = unlimited;
    std::ifstream in = open_if_there("/proc/self/cgroup");
    for (std::string line; std::getline(in, line);) {
        const std::size_t controllers = line.find(':') + 1;
        const std::size_t path = line.find(':', controllers) + 1;
        if (controllers == 0 || path == 0) continue;
        const std::string names = line.substr(controllers, path - 1 - controllers);
        if (names != "memory" && !names.empty()) continue;
        const std::filesystem::path root = std::filesystem::path("/sys/fs/cgroup") / names;
        for (std::filesystem::path own = std::filesystem::path(line.substr(path)).relative_path();;
             own = own.parent_path()) {
            left = std::min(left, left_of(root / own, names.empty() ? version_2 : version_1));
            if (own.empty()) break;
        }
    }
    return left;
}

/// The limit of the address space (ulimit -v).
double limit_of_addresses()
{
    rlimit limit{};
    const bool is_limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return is_limited ? static_cast<double>(limit.rlim_cur) : unlimited;
}

}  // namespace

Bytes available_memory()
{
    const std::optional<double> kibibytes = number_after("/proc/meminfo", "MemAvailable:");
    return {std::min({kibibytes ? *kibibytes * 1024 : unlimited, left_of_group(), limit_of_addresses()})};
}

}  // namespace roof
