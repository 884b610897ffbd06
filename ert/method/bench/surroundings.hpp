// What around the process changes a measurement and is no property of the machine. A row names it in its remarks.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace roof {

/// How a remark on a limit begins.
inline constexpr std::string_view throttled_by_group = "the control group's limit throttled this process in ";

/// The ended periods of a control group that limits processor time, and those in which its time was used up.
struct GroupPeriods {
    double all = 0;
    double throttled = 0;
};

/// Of this process's groups and those above, of both versions, by folder. `system`: the folder that has /proc and /sys.
std::map<std::filesystem::path, GroupPeriods> group_periods(const std::filesystem::path& system = "/");

/// "… in 93% of its periods" of the group that throttled most since `before`; empty below 2%, and if no period has ended.
std::string throttling_since(const std::map<std::filesystem::path, GroupPeriods>& before);

/// "set in the environment: GOMP_SPINCOUNT=0, LD_PRELOAD": variables by which libraries measure otherwise; empty if there are none. A value
/// with a path is left out.
std::string variables_set();

}  // namespace roof
