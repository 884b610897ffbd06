#include "ert/method/results/results.hpp"

#include "ert/base/checksum.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/results/seal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <tuple>

namespace roof {
namespace {

namespace fs = std::filesystem;

constexpr std::array names{measurements_file, "machine.yaml", "plan.yaml", seal_file, "samples.csv", "layers.csv"};

/// Whether it has the digest, or another table of rows with checksums. Other digests and looks may lie anywhere.
bool has_other_results(const fs::path& place)
try {
    return is_there(place / digest_file) || std::ranges::any_of(csv_files_in(place), [](const fs::path& file) {
               std::ifstream csv = open_to_read(file);
               CsvLines lines(csv, {});
               std::string what;
               return lines.next(what) && lines.has_checksums() && lines.cells().front() == "id";
           });
} catch (const Error&) {
    return false;
}

/// When the first row began that says it; empty if none does.
std::string start_of_rows(const fs::path& place)
try {
    constexpr std::size_t most_read = 100;
    std::ifstream csv = open_to_read(place / measurements_file);
    CsvLines lines(csv, {});
    std::string what;
    if (!lines.next(what)) return {};
    const auto found = std::ranges::find(lines.cells(), "started_utc");
    const auto column = static_cast<std::size_t>(found - lines.cells().begin());
    while (lines.number() < most_read && lines.next(what))
        if (column < lines.cells().size() && utc_seconds(std::string(lines.cells()[column])))
            return std::string(lines.cells()[column]);
    return {};
} catch (const std::exception&) {
    return {};
}

std::string time_of_files(const fs::path& place, bool has_rows)
{
    std::error_code none;
    const auto written = fs::last_write_time(has_rows ? place / measurements_file : place, none);
    return none ? "" : utc_text(std::chrono::system_clock::to_time_t(std::chrono::file_clock::to_sys(written)));
}

/// When the run of a folder of this name began; empty for a name that roof does not give.
std::optional<std::time_t> time_in_name(const fs::path& place)
{
    return utc_seconds(place.filename().string(), "%Y-%m-%dT%H%M%SZ");
}

/// Whether what is no folder has the name of one that roof makes. An archive of it ends as archives do.
bool has_name_of_run(const fs::path& place)
{
    const std::string ending = place.extension().string();
    return time_in_name(place) && (ending.empty() || ending.find('-') != std::string::npos);
}

void read_time(Neighbour& found)
{
    constexpr double most_apart = 24 * 3600;
    const std::string name = found.place.filename().string();
    const auto said = time_in_name(found.place);
    if (found.has_rows) found.time = start_of_rows(found.place);
    if (const auto began = utc_seconds(found.time);
        began && said && std::abs(std::difftime(*began, *said)) > most_apart)
        found.odd = fmt::format("the name of '{}' and its rows disagree: the first began at {}", name, found.time);
    if (found.time.empty()) found.time = said ? utc_text(*said) : time_of_files(found.place, found.has_rows);
}

void read_plan(Neighbour& found)
try {
    if (!is_there(found.place / "plan.yaml")) return;
    found.plan = read_file(found.place / "plan.yaml", largest_document);
    const std::string line = fmt::format("\nplan.yaml,{},{:08x},", found.plan.size(), crc32_of(found.plan));
    found.is_plan_whole = is_there(found.place / seal_file) &&
                          read_file(found.place / seal_file, largest_document).find(line) != std::string::npos;
} catch (const Error&) {  // the reader of the folder says it
}

/// Its folder's head.
void read_head(Neighbour& found)
{
    std::string in_capitals, no_table;
    bool has_folders = false;  // of runs, which may be read
    std::error_code none;
    found.unread = why_not_read(found.place);
    for (fs::directory_iterator at(found.place, none), end; at != end; at.increment(none)) {
        const std::string name = at->path().filename().string(), right = in_lower_case(name);
        const bool is_table = at->path().extension() == ".csv";
        has_folders = has_folders || (!is_table && at->is_directory(none));
        if (is_table && !at->is_regular_file(none))
            no_table = fmt::format("cannot read {}: it is no regular file", at->path().string());
        if (std::ranges::find(names, right) == names.end()) continue;
        if (name != right) in_capitals = fmt::format("{}: roof reads {} alone", at->path().string(), right);
        found.is_results = found.is_results || name == right;
        if (found.unread.empty() && name == right) found.unread = why_not_read(at->path());
    }
    found.is_results = found.unread.empty() && (found.is_results || has_other_results(found.place));
    if (!found.is_results && found.unread.empty())
        found.unread = has_folders || no_table.empty() ? in_capitals : no_table;
    if (!found.is_results) return;
    found.has_rows = is_there(found.place / measurements_file);
    read_time(found);
    read_plan(found);
}

}  // namespace

bool Neighbour::has_steps_alone() const
{
    if (!is_plan_whole) return false;
    if (plan.starts_with("name: \"pytorch\"\n")) return true;
    constexpr std::string_view word = "bench";
    constexpr std::string_view between = "\"': ";
    bool has_steps = false;
    for (std::size_t at = 0; (at = plan.find(word, at)) != std::string::npos; has_steps = true) {
        const std::size_t begin = plan.find_first_not_of(between, at += word.size());
        if (begin == std::string::npos || !std::string_view(plan).substr(begin).starts_with("train")) return false;
    }
    return has_steps;
}

bool is_there(const fs::path& file)
{
    std::error_code none;
    return fs::exists(file, none);
}

std::vector<Neighbour> neighbours_in(const fs::path& parent)
{
    std::vector<Neighbour> found;
    std::error_code none;
    for (fs::directory_iterator at(parent, none), end; at != end; at.increment(none)) {
        const fs::path& place = at->path();
        if (place.filename().string().starts_with('.')) continue;  // such as a recording that is not whole yet
        std::error_code error;
        if (fs::is_directory(place, error)) {
            read_head(found.emplace_back(place));
            continue;
        }
        const bool is_told = error && error != std::errc::no_such_file_or_directory;
        if (error == std::errc::too_many_symbolic_link_levels || has_name_of_run(place))
            found.push_back({place, fmt::format("cannot read {}: {}", place.string(),
                                                is_told ? error.message() : "it is no folder")});
    }
    std::ranges::sort(found, std::greater{}, [](const Neighbour& one) { return std::tie(one.time, one.place); });
    return found;
}

}  // namespace roof
