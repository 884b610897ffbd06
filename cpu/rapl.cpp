#include "cpu/rapl.hpp"

#include "ert/base/files.hpp"

#include <fstream>
#include <optional>
#include <vector>

namespace roof::cpu {
namespace {

template <class Value>
std::optional<Value> read(const std::filesystem::path& file)
{
    std::ifstream in = open_if_there(file);
    Value value{};
    return in >> value ? std::optional(value) : std::nullopt;
}

/// One counter. After `range` it begins at 0 again, which takes minutes.
struct Zone {
    std::filesystem::path file;
    double range = 0;
    double last = 0;
    double turns = 0;  ///< counts of its full turns
};

PowerReading read_all(std::vector<Zone>& zones)
{
    double microjoules = 0;
    for (Zone& zone : zones) {
        const std::optional<double> now = read<double>(zone.file);
        if (!now) return {};
        if (*now < zone.last) zone.turns += zone.range;
        zone.last = *now;
        microjoules += zone.turns + *now;
    }
    return {.joules = 1e-6 * microjoules};
}

}  // namespace

PowerMeter rapl_meter(const std::filesystem::path& folder)
{
    constexpr Seconds interval{0.001};  // Intel's manual, volume 3, "RAPL Interfaces"
    std::vector<Zone> zones;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
        const std::filesystem::path& zone = entry.path();
        const std::string name = read<std::string>(zone / "name").value_or("");
        const auto range = read<double>(zone / "max_energy_range_uj");
        // "intel-rapl-mmio:0" is the same package by another way; other subzones are parts of the package, and `psys`
        // is the whole machine.
        if (!zone.filename().string().starts_with("intel-rapl:") || !range) continue;
        if (!name.starts_with("package") && name != "dram") continue;
        const std::filesystem::path counter = zone / "energy_uj";
        if (!read<double>(counter)) return {{}, counter.string() + " cannot be read: it needs the rights of root"};
        zones.push_back({counter, *range});
    }
    if (zones.empty()) return {{}, folder.string() + " has no energy counter (RAPL), as on most virtual machines"};
    return {[zones]() mutable { return read_all(zones); }, {}, interval};
}

}  // namespace roof::cpu
