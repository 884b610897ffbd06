#include "analysis/fleet/fleet_files.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/method/results/seal.hpp"

#include <algorithm>
#include <optional>
#include <system_error>
#include <tuple>

namespace roof::analysis {
namespace {

namespace fs = std::filesystem;

constexpr int most_levels = 6;
constexpr std::size_t most_entries = 1'000'000;

std::optional<Digest> digest_in(const fs::path& folder)
{
    const fs::path file = folder / digest_file;
    std::error_code none;
    if (!fs::is_regular_file(fs::symlink_status(file, none))) return std::nullopt;
    try {
        return parse_digest(read_file(file, largest_digest), digest_file);
    } catch (const Error&) {
        return std::nullopt;
    }
}

void search(const fs::path& place, int level, std::size_t& entries, std::vector<Digest>& digests)
{
    if (std::optional<Digest> digest = digest_in(place)) digests.push_back(std::move(*digest));
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, error)) {
        if (++entries > most_entries) throw InputError("a fleet has at most 1,000,000 files and folders");
        std::error_code none;
        if (level < most_levels && !entry.is_symlink(none) && entry.is_directory(none))
            search(entry.path(), level + 1, entries, digests);
    }
}

}  // namespace

Fleet read_fleet(const std::vector<fs::path>& folders)
{
    Fleet fleet;
    std::size_t entries = 0;
    for (const fs::path& folder : folders) {
        if (!fs::is_directory(folder)) throw InputError("there is no folder " + folder.string());
        search(folder, 0, entries, fleet.digests);
    }
    std::ranges::sort(fleet.digests, {}, [](const Digest& d) { return std::tie(d.node, d.time); });
    return fleet;
}

}  // namespace roof::analysis
