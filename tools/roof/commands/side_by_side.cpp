#include "tools/roof/commands/side_by_side.hpp"

#include "ert/base/ranges.hpp"
#include "ert/method/results/results.hpp"
#include "tools/roof/programs/child_program.hpp"

#include <set>

namespace roof {
namespace {

namespace fs = std::filesystem;

/// The benches whose launches use what the GPUs of a node share: the buses to the host and between GPUs, and the host.
/// Measured at once they would disturb each other. All other benches of a GPU run inside it; what they share is the
/// power and the air of the node, as a training step over all GPUs does.
constexpr const char* shared_benches = "link,peer,allreduce,launch,network,network_pair";

fs::path part_of(const fs::path& folder, const std::string& device)
{
    return folder / ("part-" + device);
}

fs::path log_of(const fs::path& folder, const std::string& device)
{
    return folder / ("part-" + device + ".log");
}

bool has_rows(const std::vector<Measurement>& rows, const std::string& device)
{
    return is_in(device, rows, &Measurement::device);
}

}  // namespace

std::optional<std::vector<Measurement>> measure_side_by_side(const SideBySide& what, const fs::path& folder,
                                                             const std::vector<Measurement>& done)
{
    std::vector<std::string> devices;
    std::vector<ChildProgram> programs;
    for (const std::string& device : what.devices) {
        if (has_rows(done, device) && !fs::exists(part_of(folder, device))) continue;
        std::vector<std::string> words{
            program_path().string(),         "calibrate", "--device", device, "--without", shared_benches, "--out",
            part_of(folder, device).string()};
        words.insert(words.end(), what.arguments.begin(), what.arguments.end());
        devices.push_back(device);
        programs.push_back({std::move(words), log_of(folder, device)});
    }
    constexpr int interrupted_status = 130;
    if (run_children(programs) == interrupted_status) return std::nullopt;
    std::set<std::string> ids;
    for (const Measurement& row : done) ids.insert(row.id());
    std::vector<Measurement> rows;
    for (const std::string& device : devices) {
        if (!fs::exists(part_of(folder, device) / "measurements.csv")) continue;
        for (Measurement& row : read_results(part_of(folder, device)).rows)
            if (ids.insert(row.id()).second) rows.push_back(std::move(row));
    }
    return rows;
}

void remove_parts(const fs::path& folder, const std::vector<std::string>& devices)
{
    for (const std::string& device : devices) {
        fs::remove_all(part_of(folder, device));
        fs::remove(log_of(folder, device));
    }
}

}  // namespace roof
