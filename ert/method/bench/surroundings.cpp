#include "ert/method/bench/surroundings.hpp"

#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/process_limits.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <vector>

namespace roof {
namespace {

GroupPeriods periods_of(const std::filesystem::path& group)
{
    std::ifstream in = open_if_there(group / "cpu.stat");
    GroupPeriods periods;
    std::string word;
    for (double value = 0; in >> word >> value;) {
        if (word == "nr_periods") periods.all = value;
        if (word == "nr_throttled") periods.throttled = value;
    }
    return periods;
}

}  // namespace

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
    // Those that decide how many threads there are and where are without effect (tools/roof/openmp_variables.hpp).
    // clang-format off
    constexpr std::array<std::string_view, 15> known{
        "OMP_WAIT_POLICY=", "GOMP_SPINCOUNT=", "KMP_BLOCKTIME=", "KMP_LIBRARY=", "ONEDNN_", "DNNL_", "MALLOC_", "GLIBC_TUNABLES=", "LD_PRELOAD=",
        "NVIDIA_TF32_", "CUBLAS_", "CUDNN_", "NCCL_", "CUDA_LAUNCH_BLOCKING=", "CUDA_DEVICE_MAX_CONNECTIONS="};
    // clang-format on
    std::vector<std::string> set;
    for (char** line = environ; *line != nullptr; ++line) {
        const std::string text = printable(*line);
        if (std::ranges::none_of(known, [&](std::string_view begin) { return text.starts_with(begin); })) continue;
        set.push_back(text.find('/') == std::string::npos ? shortened(text, 100) : text.substr(0, text.find('=')));
    }
    std::ranges::sort(set);
    return set.empty() ? "" : "set in the environment: " + join(set, ", ");
}

}  // namespace roof
