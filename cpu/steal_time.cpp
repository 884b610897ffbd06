#include "cpu/steal_time.hpp"

#include "ert/base/files.hpp"
#include "ert/method/bench/process_limits.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace roof::cpu {

namespace {

/// "cpu12" -> 12; -1 for the total and for other lines.
int processor_of(const std::string& word)
{
    constexpr std::string_view head = "cpu";
    int number = -1;
    if (word.starts_with(head)) std::from_chars(word.data() + head.size(), word.data() + word.size(), number);
    return number;
}

/// The eighth number of a processor's line, after user, nice, system, idle, iowait, irq and softirq.
long long steal_in(std::istringstream& line)
{
    constexpr int before_steal = 7;
    long long value = 0;
    for (int i = 0; i <= before_steal; ++i)
        if (!(line >> value)) return 0;
    return value;
}

long long stolen_so_far(const std::filesystem::path& file, const std::vector<int>& processors)
{
    std::ifstream in = open_if_there(file);
    long long stolen = 0;
    for (std::string text; std::getline(in, text) && text.starts_with("cpu");) {
        std::istringstream line(text);
        std::string word;
        line >> word;
        if (std::ranges::find(processors, processor_of(word)) != processors.end()) stolen += steal_in(line);
    }
    return stolen;
}

long long throttled_so_far(const std::filesystem::path& file)
{
    std::ifstream in = open_if_there(file);
    std::string word;
    long long value = 0;
    while (in >> word >> value)
        if (word == "nr_throttled") return value;
    return 0;
}

}  // namespace

StealFiles steal_files()
{
    StealFiles files;
    for (const char* controller : {"", "cpu"})
        for (const std::filesystem::path& folder : control_groups(controller))
            if (std::filesystem::exists(folder / "cpu.stat")) files.groups.push_back(folder / "cpu.stat");
    return files;
}

StealTime steal_so_far(const StealFiles& files, const std::vector<int>& processors)
{
    StealTime taken;
    if (!processors.empty()) taken.stolen = stolen_so_far(files.processors, processors);
    for (const std::filesystem::path& group : files.groups) taken.throttled += throttled_so_far(group);
    return taken;
}

std::string_view disturbance_between(const StealTime& before, const StealTime& after)
{
    if (after.throttled > before.throttled) return "throttled by the control group's limit";
    if (after.stolen > before.stolen) return "processor time was stolen by the host";
    return {};
}

StealMonitor::StealMonitor(std::vector<int> processors, StealFiles files)
    : processors_(std::move(processors)), files_(std::move(files))
{
    before_ = steal_so_far(files_, processors_);
    if (before_.stolen == 0) processors_.clear();
}

}  // namespace roof::cpu
