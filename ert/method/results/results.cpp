#include "ert/method/results/results.hpp"

#include "ert/base/checksum.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/fields.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/identity.hpp"
#include "ert/method/results/seal.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <sstream>
#include <utility>

namespace roof {
namespace {

namespace fs = std::filesystem;

/// The number of the format, in the first line of machine.yaml. Format 2 lacks columns, and states no run.
constexpr int format = 3;
constexpr int oldest_format = 2;
constexpr int letters_of_run = 10;

/// The header and a line for each row; empty without rows.
template <class Row>
std::string with_header_of(const std::vector<Field<Row>>& fields, const std::string& id, const std::vector<Row>& rows)
{
    if (rows.empty()) return {};
    std::string lines = header_of(fields) + "\n";
    for (const Row& row : rows) append_row(lines, id, row, fields);
    return lines;
}

/// Whether the columns are those of this version. Of which run they are is checked with the rows.
void check_header(const fs::path& file, const std::string& header)
{
    if (!fs::exists(file)) return;
    std::string first;
    std::ifstream in = open_to_read(file);
    std::getline(in, first);
    if (!in.good()) return;  // its end is missing
    if (first != header && !first.starts_with(header + ":"))
        throw InputError(file.string() +
                         " was written by another version of roof: its columns differ; give --out another folder");
}

/// 0 if machine.yaml does not begin with it.
int format_of(const fs::path& folder)
{
    int number{};
    std::string word;
    std::ifstream file = open_if_there(folder / "machine.yaml");
    return file >> word >> number && word == "format:" ? number : 0;
}

/// Removes what a run that was stopped before its first row has left, so that the folder is as a new one. Nothing is
/// removed where any other file is, or where one of these is not as it was written. Returns whether it has removed
/// them.
bool remove_run_without_rows(const fs::path& folder)
{
    const std::array<fs::path, 3> left{seal_file, "machine.yaml",
                                       "plan.yaml"};  // the seal first: without it, nothing is removed
    std::ptrdiff_t files = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (entry.path().filename() == ".lock") continue;
        if (std::ranges::find(left, entry.path().filename()) == left.end()) return false;
        ++files;
    }
    if (files != std::ssize(left) || is_of_other_format(folder) || !check_seal(folder).damage.empty()) return false;
    for (const fs::path& file : left) fs::remove(folder / file);
    return true;
}

/// The length of the file without its unfinished end.
std::size_t finished_bytes(const fs::path& file, const std::set<std::string>& done)
{
    const std::string name = file.filename();
    const bool has_rows = name == measurements_file;
    const bool is_ours = std::ranges::find(files_of_rows, name) != files_of_rows.end();
    std::ifstream csv = open_to_read(file);
    CsvLines lines(csv, file.string());
    std::size_t finished = 0;
    for (std::string what; lines.next(what);) {
        if (!what.empty()) {
            finished = lines.bytes();  // a damaged line is not the end of a killed run
            continue;
        }
        const bool is_header = lines.number() == 1;
        if (is_header && (lines.cells().front() != "id" || (!is_ours && !lines.has_checksums())))
            return fs::file_size(file);
        const bool is_whole = is_header || is_ours || has_rows || lines.ends_block();
        if (is_whole && (is_header || has_rows || done.contains(std::string(lines.cells().front()))))
            finished = lines.bytes();
    }
    return finished;
}

void move_end(const fs::path& file, std::size_t from)
{
    constexpr std::size_t piece = std::size_t{8} << 20;
    fs::path beside = file;
    beside += ".cut";
    std::ifstream in = open_to_read(file);
    in.seekg(static_cast<std::streamoff>(from));
    for (std::string text(piece, '\0'); in;) {
        in.read(text.data(), static_cast<std::streamsize>(text.size()));
        append_file(beside, text.substr(0, static_cast<std::size_t>(in.gcount())));
    }
    append_file(beside, "\n");
    cut_file(file, from);
}

/// What a killed run leaves at the end of the files: moves an unfinished last line, an unfinished block, and the lines
/// at the end whose id is not in `done`, from each CSV file with ids and checksums into the file `<name>.cut` beside
/// it. measurements.csv loses only an unfinished line. Throws InputError.
void move_unfinished_tails(const fs::path& folder, const std::set<std::string>& done)
{
    for (const fs::path& file : csv_files_in(folder)) {
        const std::size_t finished = finished_bytes(file, done);
        if (finished < fs::file_size(file)) move_end(file, finished);
    }
}

/// The lines of each row in files_of_rows, as they are in a folder.
class LinesOfRows {
  public:
    explicit LinesOfRows(const fs::path& folder)
    {
        for (std::size_t i = 0; i < files_.size(); ++i)
            if (const fs::path file = folder / files_of_rows[i]; fs::exists(file)) read(file, files_[i]);
    }
    /// Those of the row that has this line in measurements.csv; none if its id cannot be read.
    void add_to(BlockSum& sum, std::string_view line) const
    {
        std::istringstream csv(std::string(line) + "\n");
        CsvLines row(csv, {});
        std::string what;
        row.next(what);
        if (row.cells().empty()) return;
        for (const File& file : files_) {
            const auto lines = file.rows.find(row.cells().front());
            if (lines == file.rows.end()) continue;
            sum.add(file.header);
            for (const std::uint32_t crc : lines->second) sum.add(crc);
        }
    }

  private:
    struct File {
        std::uint32_t header{};
        std::map<std::string, std::vector<std::uint32_t>, std::less<>> rows{};  ///< CRC-32 of each line
    };

    static void read(const fs::path& path, File& file)
    {
        std::ifstream csv = open_to_read(path);
        CsvLines lines(csv, path.string());
        for (std::string what; lines.next(what);) {
            if (lines.number() == 1)
                file.header = lines.crc();
            else if (!lines.cells().empty())
                file.rows[std::string(lines.cells().front())].push_back(lines.crc());
        }
    }

    std::array<File, files_of_rows.size()> files_;
};

}  // namespace

std::string why_no_row_is_appended(const fs::path& folder, const std::string& plan_text, const Machine& machine)
{
    const fs::path plan_file = folder / "plan.yaml";
    if (is_there(plan_file) && read_file(plan_file) != plan_text)
        return folder.string() + " holds the results of another plan (see its plan.yaml); give --out another folder";
    if (!is_there(folder / "machine.yaml")) return {};
    if (!is_there(plan_file) && !is_there(folder / measurements_file))
        return fmt::format("the folder is damaged, so nothing is appended: {}: it is missing", plan_file.string());
    const Machine other = read_machine_of(folder);
    if (format_of(folder) != format)
        return folder.string() +
               " holds results of an older format, to which nothing is appended; give --out another folder";
    if (other.name != machine.name) return folder.string() + " holds rows of another machine, " + printable(other.name);
    if (!is_same_host(other, machine))
        return fmt::format("{} holds rows of another node, {}; if this is the same one, give --node {}",
                           folder.string(), printable(other.node), printable(other.node));
    // One machine.yaml describes all rows.
    const auto facts_of = [](const Machine& one) {
        Facts facts = identity_of(one);
        for (auto& fact : state_of(one)) facts.push_back(std::move(fact));
        facts.emplace_back("revision", version_of(one, "revision"));
        return facts;
    };
    const std::string differs = differing_facts(facts_of(other), facts_of(machine));
    return differs.empty() ? ""
                           : fmt::format("{} holds rows of {}; give --out another folder", folder.string(), differs);
}

RunDirectory::RunDirectory(fs::path folder, const std::string& plan_text, const Machine& machine)
    : folder_(std::move(folder))
{
    make_folder(folder_);
    lock_.emplace(folder_);
    const fs::path plan_file = folder_ / "plan.yaml";
    const fs::path machine_file = folder_ / "machine.yaml";
    const std::string reason = why_no_row_is_appended(folder_, plan_text, machine);
    if (!reason.empty() && !remove_run_without_rows(folder_)) throw InputError(reason);
    if (!fs::exists(plan_file)) write_file(plan_file, plan_text);
    if (!fs::exists(machine_file))
        write_file(machine_file, fmt::format("format: {}\nrun: {}\n{}\n", format, random_letters(letters_of_run),
                                             YAML::Dump(to_yaml(machine))));
    read_back();
    if (!fs::exists(folder_ / seal_file)) seal(folder_);
}

RunDirectory::~RunDirectory()
{
    try {
        close();
    } catch (const std::exception&) {
    }  // without it, the page says that the run has not ended
}

void RunDirectory::close()
{
    if (!lock_) return;
    try {
        lock_->check();
        move_unfinished_tails(folder_, done_);
        seal(folder_);
    } catch (...) {
        lock_.reset();
        throw;
    }
    lock_.reset();
}

void RunDirectory::read_back()
{
    check_header(folder_ / measurements_file, with_column(header_of(measurement_fields()), row_column));
    check_header(folder_ / files_of_rows[0], header_of(sample_fields()));
    check_header(folder_ / files_of_rows[1], header_of(part_fields()));
    if (fs::exists(folder_ / measurements_file)) {
        Results results = read_results(folder_);
        if (!results.damage.empty())
            throw InputError(
                fmt::format("the folder is damaged, so nothing is appended: {}; `roof check {}` tells more",
                            results.damage.front(), folder_.string()));
        rows_ = std::move(results.rows);
    } else if (const SealCheck check = check_seal(folder_); !check.lost.empty()) {
        throw InputError("the folder is damaged, so nothing is appended: " + check.lost.front());
    }
    for (const Measurement& row : rows_) done_.insert(row.id());
    move_unfinished_tails(folder_, done_);
}

void RunDirectory::append(const Measurement& row)
{
    const std::string id = row.id();
    const std::array files{with_header_of(sample_fields(), id, row.samples),
                           with_header_of(part_fields(), id, row.parts)};
    std::string line;
    std::error_code none;
    append_row(line, id, row, measurement_fields());
    try {
        check_lock();
        for (std::size_t i = 0; i < files.size(); ++i)
            if (const fs::path file = folder_ / files_of_rows[i]; !files[i].empty())  // the header for a new file only
                append_file(file, is_there(file) && !fs::is_empty(file, none) ? files[i].substr(files[i].find('\n') + 1)
                                                                              : files[i]);
        append_block(folder_ / measurements_file, header_of(measurement_fields()), line,
                     [&](std::string_view, BlockSum& sum) {
                         for (const std::string& file : files)
                             for_lines(file, [&](std::string_view one) { sum.add_line(one); });
                     });
    } catch (const Error&) {
        lock_.reset();  // whether the row is complete is read from the files by the next opening
        throw;
    }
    done_.insert(id);
}

std::vector<std::string> accept_edits(const fs::path& folder)
{
    const FolderLock lock(folder);
    read_machine_of(folder);
    const SealCheck before = check_seal(folder);
    const std::string when = fmt::format("accepted on {:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
    Edits edits;
    for (const std::string& damage : before.damage) {
        const std::string file = fs::path(damage.substr(0, damage.find(": "))).filename();
        if (fs::exists(folder / file)) edits[file] = "edited after it was written, " + when;
    }
    const LinesOfRows lines(folder);
    const AddOthers add_lines = [&](std::string_view line, BlockSum& sum) { lines.add_to(sum, line); };
    for (const fs::path& path : csv_files_in(folder)) {
        const std::string file = path.filename();
        if (file == seal_file) continue;
        const std::string text = read_file(path);
        const std::string_view header = std::string_view(text).substr(0, text.find('\n'));
        const bool has_rows = file == measurements_file;
        if (!has_column(header, has_rows ? row_column : block_column)) continue;
        const std::string proven = with_checksums(text, run_of(folder), has_rows ? add_lines : AddOthers());
        if (proven == text) continue;
        write_file(path, proven);
        edits[file] = std::string("edited after it was written") +
                      (has_rows ? ", or its rows in samples.csv or layers.csv, " : ", ") + when;
    }
    seal(folder, edits);
    std::vector<std::string> notes;
    for (const auto& [file, edit] : edits) notes.push_back(file + ": " + edit);
    return notes;
}

bool is_of_other_format(const fs::path& folder)
{
    const int found = format_of(folder);
    return found > 0 && (found < oldest_format || found > format);
}

Machine read_machine_of(const fs::path& folder)
{
    const fs::path file = folder / "machine.yaml";
    read_file(file, largest_document);  // throws if it is not there
    if (is_of_other_format(folder))
        throw InputError(folder.string() +
                         " holds results of an older format or a newer one, which this version of roof does not read; "
                         "measure again");
    if (format_of(folder) == 0)
        throw InputError(
            fmt::format("{}: it is damaged: its first line does not state a format, such as 'format: {}'; "
                        "put back this file from a copy of the folder",
                        file.string(), format));
    return read_machine(file);
}

bool has_no_row(const fs::path& folder)
{
    const auto is_other = [](const fs::path& file) { return file.filename() != seal_file; };
    const bool has_begun_with_plan = is_there(folder / "plan.yaml") || !is_there(folder / "machine.yaml");
    return has_begun_with_plan && std::ranges::none_of(csv_files_in(folder), is_other) && !check_seal(folder).has_ended;
}

std::string lost_rows(const fs::path& folder)
try {
    const bool has_none_yet = has_no_row(folder) || FolderLock::is_held(folder);  // samples come before the row
    if (has_none_yet || is_there(folder / measurements_file)) return {};
    const std::vector<std::string> damage = check_seal(folder).damage;
    return damage.empty() ? (folder / measurements_file).string() + ": it is missing" : damage.front();
} catch (const Error& error) {
    return error.what();
}

}  // namespace roof
