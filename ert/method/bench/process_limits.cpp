#include "ert/method/bench/process_limits.hpp"

#include "ert/base/files.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <utility>

namespace roof {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// The usage of a group includes cached files that the kernel can drop.
struct GroupFiles {
    std::string limit, usage, idle_files;
};

double left_of(const std::filesystem::path& group, const GroupFiles& files, double held)
{
    const std::optional<double> limit = first_number(group / files.limit);
    if (!limit) return unlimited;
    const double idle = number_after(group / "memory.stat", files.idle_files).value_or(0);
    return std::max(0.0, *limit - std::max(held, first_number(group / files.usage).value_or(0) - idle));
}

/// Limits of parent groups apply, too.
double left_of_groups(const std::filesystem::path& system, double held)
{
    const GroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
    const GroupFiles version_2{"memory.max", "memory.current", "inactive_file"};
    double left = unlimited;
    for (const auto& [controller, files] : {std::pair{"memory", version_1}, std::pair{"", version_2}})
        for (const std::filesystem::path& group : control_groups(controller, system))
            left = std::min(left, left_of(group, files, held));
    return left;
}

/// What the limits of the address space (ulimit -v) and of private data (ulimit -d) leave; all of it without /proc.
double left_of_addresses(const std::filesystem::path& system)
{
    double left = unlimited;
    for (const auto& [kind, used] : {std::pair{RLIMIT_AS, "VmSize:"}, {RLIMIT_DATA, "VmData:"}}) {
        rlimit limit{};
        if (::getrlimit(kind, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
        const double kibibytes = number_after(system / "proc/self/status", used).value_or(0);
        left = std::min(left, std::max(0.0, static_cast<double>(limit.rlim_cur) - 1024 * kibibytes));
    }
    return left;
}

GroupPeriods periods_of(const std::filesystem::path& group)
{
    return {number_after(group / "cpu.stat", "nr_periods").value_or(0),
            number_after(group / "cpu.stat", "nr_throttled").value_or(0)};
}

}  // namespace

std::optional<double> first_number(const std::filesystem::path& file)
{
    std::ifstream in = open_if_there(file);
    double value = 0;
    return in >> value ? std::optional(value) : std::nullopt;
}

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

std::vector<std::filesystem::path> control_groups(const std::string& controller, const std::filesystem::path& system)
{
    std::ifstream in = open_if_there(system / "proc/self/cgroup");
    for (std::string line; std::getline(in, line);) {
        const std::size_t controllers = line.find(':') + 1;
        const std::size_t path = line.find(':', controllers) + 1;
        if (controllers == 0 || path == 0) continue;
        const std::vector<std::string> names = split(line.substr(controllers, path - 1 - controllers), ',');
        if (std::ranges::find(names, controller) == names.end()) continue;
        const std::filesystem::path root = system / "sys/fs/cgroup" / controller;
        std::vector<std::filesystem::path> folders;
        for (std::filesystem::path group = std::filesystem::path(line.substr(path)).relative_path(); !group.empty();
             group = group.parent_path())
            folders.push_back(root / group);
        folders.push_back(root);
        return folders;
    }
    return {};
}

Bytes available_memory(const std::filesystem::path& system, Bytes held)
{
    const std::optional<double> kibibytes = number_after(system / "proc/meminfo", "MemAvailable:");
    return {std::min(
        {kibibytes ? *kibibytes * 1024 : unlimited, left_of_groups(system, held.value), left_of_addresses(system)})};
}

Bytes resident_memory(const std::filesystem::path& system)
{
    return {1024 * number_after(system / "proc/self/status", "VmRSS:").value_or(0)};
}

std::map<std::filesystem::path, GroupPeriods> group_periods(const std::filesystem::path& system)
{
    std::map<std::filesystem::path, GroupPeriods> groups;
    for (const char* controller : {"", "cpu"})
        for (const std::filesystem::path& folder : control_groups(controller, system))
            groups[folder] = periods_of(folder);
    return groups;
}

std::string throttling_since(const std::map<std::filesystem::path, GroupPeriods>& before)
{
    constexpr double noticed = 0.02;
    double most = 0;
    for (const auto& [folder, first] : before)
        if (const GroupPeriods now = periods_of(folder); now.all > first.all)
            most = std::max(most, (now.throttled - first.throttled) / (now.all - first.all));
    return most < noticed ? "" : fmt::format("{}{:.0f}% of its periods", throttled_by_group, 100 * most);
}

std::string variables_set()
{
    // Those that decide how many threads there are and where are without effect (tools/roof/openmp_variables.cpp).
    // clang-format off
    constexpr std::array<std::string_view, 15> known{
        "OMP_WAIT_POLICY=", "GOMP_SPINCOUNT=", "KMP_BLOCKTIME=", "KMP_LIBRARY=", "ONEDNN_", "DNNL_", "MALLOC_", "GLIBC_TUNABLES=", "LD_PRELOAD=",
        "NVIDIA_TF32_", "CUBLAS_", "CUDNN_", "NCCL_", "CUDA_LAUNCH_BLOCKING=", "CUDA_DEVICE_MAX_CONNECTIONS="};
    // clang-format on
    std::vector<std::string> set;
    for (char** line = environ; *line != nullptr; ++line) {
        const std::string_view raw = *line;
        if (std::ranges::none_of(known, [&](std::string_view begin) { return raw.starts_with(begin); })) continue;
        const std::string text = printable(raw);
        set.push_back(text.find('/') == std::string::npos ? shortened(text, 100) : text.substr(0, text.find('=')));
    }
    std::ranges::sort(set);
    return set.empty() ? "" : "set in the environment: " + join(set, ", ");
}

}  // namespace roof
