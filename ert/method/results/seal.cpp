#include "ert/method/results/seal.hpp"

#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/results/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace roof {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> columns{"file", "bytes", "end", "edited"};
/// Named last: every folder has them, so that the loss of the last lines is seen.
constexpr std::array documents{"machine.yaml", "plan.yaml"};
/// In place of a checksum: each line is a block, so that the others are known if one is damaged.
const std::string each_line = "block";

struct Entry {
    std::string file;
    std::uintmax_t bytes{};
    std::string end;
    std::string edited;
};

bool is_csv(const fs::path& file)
{
    return file.extension() == ".csv";
}

/// Whether the checksums of the rows cover the file.
bool is_of_rows(const fs::path& file)
{
    return std::ranges::find(files_of_rows, file.filename()) != files_of_rows.end();
}

/// The checksum at the end of the first `bytes` bytes; empty if there is none.
std::string end_of(const fs::path& file, std::uintmax_t bytes)
{
    if (!is_csv(file)) return fmt::format("{:08x}", crc32_of(read_file(file)));
    return is_of_rows(file) ? "" : last_checksum(file, bytes).value_or("");
}

/// The whole lines; the damaged ones go to `damage`.
std::vector<Entry> entries_in(const fs::path& file, DamageList& damage)
{
    const std::string run = run_of(file.parent_path());
    std::vector<Entry> entries;
    const auto check_header = [&](const CsvLines& lines) {
        const bool is_known = lines.has_blocks() ? lines.run() == run : !lines.has_checksums();
        if (!is_known || !std::ranges::equal(lines.cells(), columns))
            throw InputError(file.string() + ":1: its columns are not known, or it is of another run");
    };
    const auto read = [&](CsvLines& lines) {
        std::string what;
        for (bool more = true; more;) {
            more = lines.next(what);
            if (what.empty()) what = lines.block_damage();
            const auto& cells = lines.cells();
            if (!what.empty())
                damage.add(what);
            else if (more)
                entries.push_back({std::string(cells[0]), parse_number<std::uintmax_t>(cells[1]).value_or(0),
                                   std::string(cells[2]), std::string(cells[3])});
        }
    };
    read_lines_of(file, with_column(join(columns, ","), block_column, run), check_header, read,
                  [&](const std::string& what, bool) { damage.add(what); });
    return entries;
}

/// What is lost of the file; empty if nothing is.
std::string loss_of(const fs::path& file, const Entry& entry)
{
    const std::string name = file.string();
    std::error_code none;
    if (!fs::is_regular_file(file, none)) return name + ": it is missing";
    const std::uintmax_t bytes = fs::file_size(file, none);
    if (bytes < entry.bytes)
        return fmt::format("{}: it has {} bytes of the {} that were written", name, bytes, entry.bytes);
    return {};
}

}  // namespace

std::vector<fs::path> csv_files_in(const fs::path& folder)
{
    std::vector<fs::path> files;
    std::error_code error;
    fs::directory_iterator entries(folder, error);
    if (error) throw InputError("cannot list the files in " + folder.string() + ": " + error.message());
    for (const fs::directory_entry& entry : entries)
        if (entry.is_regular_file(error) && is_csv(entry.path())) files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

void seal(const fs::path& folder, const Edits& edits)
{
    Edits known = edits;
    known.merge(check_seal(folder).edits);
    std::vector<fs::path> files = csv_files_in(folder);
    for (const char* const document : documents)
        if (fs::is_regular_file(folder / document)) files.push_back(folder / document);
    std::string text = with_column(join(columns, ","), block_column) + "\n";
    for (const fs::path& file : files) {
        const std::string name = file.filename().string();
        const std::uintmax_t bytes = fs::file_size(file);
        if (name == seal_file || name == digest_file || name == looks_file) continue;
        const std::string end = end_of(file, bytes);
        if (!end.empty() || is_of_rows(file))
            text += csv_line(std::vector{name, std::to_string(bytes), end, known[name], each_line});
    }
    write_file(folder / seal_file, with_checksums(text, run_of(folder)));
}

SealCheck check_seal(const fs::path& folder)
{
    SealCheck check;
    const fs::path seal = folder / seal_file;
    if (!fs::exists(seal)) return check;
    // Of an older version; not compared.
    check.has_ended = read_file(seal, largest_document).starts_with(join(columns, ",") + ",crc32\n");
    if (check.has_ended) return check;
    DamageList found;
    std::set<std::string, std::less<>> named;
    for (const Entry& entry : entries_in(seal, found)) {
        named.insert(entry.file);
        check.has_ended = check.has_ended || is_csv(entry.file);
        if (!entry.edited.empty()) check.edits[entry.file] = entry.edited;
        const fs::path file = folder / fs::path(entry.file).filename();
        if (std::string loss = loss_of(file, entry); !loss.empty())
            check.lost.push_back(std::move(loss));
        else if (end_of(file, entry.bytes) != entry.end)
            found.add(file.string() + ": it was changed after it was written");
    }
    check.damage = check.lost;
    for (std::string& damage : found.take()) check.damage.push_back(std::move(damage));
    for (const char* const document : documents)
        if (check.damage.empty() && fs::is_regular_file(folder / document) && !named.contains(document))
            check.damage.push_back(
                fmt::format("{}: it does not name {}: its last lines are missing", seal.string(), document));
    check.has_ended = check.has_ended || !check.damage.empty();  // then it is unknown
    return check;
}

Results check_results(const fs::path& folder)
{
    Results results = read_results(folder);
    DamageList damage;
    const std::string run = run_of(folder);
    for (const fs::path& file : csv_files_in(folder)) {
        const std::string name = file.filename();
        if (name == "measurements.csv" || is_of_rows(file) || name == seal_file) continue;
        std::ifstream csv = open_to_read(file);
        CsvLines lines(csv, file.string());
        for (bool more = true; more;) {
            try {
                more = lines.next();
                if (lines.number() == 1 && lines.has_checksums()) check_run(lines, run);
                if (lines.has_checksums() && !lines.damage().empty()) damage.add(lines.damage());
            } catch (const InputError& error) {
                damage.add(error.what());
            }
        }
    }
    for (std::string& sentence : damage.take()) results.damage.push_back(std::move(sentence));
    return results;
}

}  // namespace roof
