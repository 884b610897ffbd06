#include "ert/method/results/results.hpp"

#include "ert/base/checksum.hpp"
#include "ert/base/csv.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/results/row_checksum.hpp"
#include "ert/method/results/seal.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <random>
#include <utility>

namespace roof {
namespace {

namespace fs = std::filesystem;

constexpr const char* measurements_file = "measurements.csv";
constexpr const char* samples_file = "samples.csv";
constexpr const char* layers_file = "layers.csv";
/// The number of the format, in the first line of machine.yaml. Format 2 lacks columns, and states no run.
constexpr int format = 3;
constexpr int oldest_format = 2;

template <class Row>
std::string row_line(const std::string& id, const Row& row, const std::vector<Column<Row>>& columns)
{
    std::vector<std::string> cells{id};
    for (const auto& column : columns) cells.push_back(column.write(row));
    return csv_line(cells);
}

/// The header and a line for each row; empty without rows.
template <class Row>
std::string with_header_of(const std::vector<Column<Row>>& columns, const std::string& id, const std::vector<Row>& rows)
{
    if (rows.empty()) return {};
    std::string lines = header_of(columns) + "\n";
    for (const Row& row : rows) lines += row_line(id, row, columns);
    return lines;
}

/// Appends the lines in a single write; the first one, the header, only to a new file.
void append_after_header(const fs::path& file, const std::string& lines)
{
    std::error_code none;
    if (lines.empty()) return;
    const bool is_new = !fs::exists(file) || fs::file_size(file, none) == 0;
    append_file(file, is_new ? lines : lines.substr(lines.find('\n') + 1));
}

void check_header(const fs::path& file, const std::string& header)
{
    if (!fs::exists(file)) return;
    std::string first;
    std::ifstream in = open_to_read(file);
    if (!std::getline(in, first) || in.eof()) return;
    if (first != header)
        throw InputError(file.string() +
                         " was written by another version of roof: its columns differ; give --out another folder");
}

/// 0 if machine.yaml does not begin with it.
int format_of(const fs::path& folder)
{
    int number = 0;
    std::string word;
    std::ifstream file = open_if_there(folder / "machine.yaml");
    return file >> word >> number && word == "format:" ? number : 0;
}

/// The name of a new run: ten letters by chance.
std::string new_run()
{
    std::random_device chance;
    std::uniform_int_distribution<int> letter('a', 'z');
    std::string run;
    for (int i = 0; i < 10; ++i) run += static_cast<char>(letter(chance));
    return run;
}

void keep_document(const fs::path& file, const std::string& content)
{
    if (!fs::exists(file)) write_file(file, content);
}

/// The length of the file without its unfinished end.
std::size_t finished_bytes(const fs::path& file, const std::set<std::string>& done)
{
    const std::string name = file.filename();
    const bool has_rows = name == "measurements.csv";
    const bool is_ours = std::ranges::find(files_of_lines, name) != files_of_lines.end();
    std::ifstream csv = open_to_read(file);
    CsvLines lines(csv, file.string());
    std::size_t finished = 0;
    for (;;) {
        try {
            if (!lines.next()) return finished;
        } catch (const InputError&) {
            finished = lines.bytes();  // not the end of a killed run
            continue;
        }
        const bool is_header = lines.number() == 1;
        if (is_header && (lines.cells().front() != "id" || (!is_ours && !lines.has_checksums())))
            return fs::file_size(file);
        const bool is_whole = is_header || is_ours || has_rows || lines.ends_block();
        if (is_whole && (is_header || has_rows || done.contains(std::string(lines.cells().front()))))
            finished = lines.bytes();
    }
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
        if (in.gcount() > 0) append_file(beside, text.substr(0, static_cast<std::size_t>(in.gcount())));
    }
    append_file(beside, "\n");
    cut_file(file, from);
}

/// What a killed run leaves at the end of the files: moves an unfinished last line, an unfinished block, and the lines at the end whose id
/// is not in `done`, from each CSV file with ids and checksums into the file `<name>.cut` beside it. measurements.csv loses only an
/// unfinished line. Throws InputError.
void move_unfinished_tails(const fs::path& folder, const std::set<std::string>& done)
{
    for (const fs::path& file : csv_files_in(folder)) {
        const std::size_t finished = finished_bytes(file, done);
        if (finished < fs::file_size(file)) move_end(file, finished);
    }
}

}  // namespace

RunDirectory::RunDirectory(fs::path folder, const std::string& plan_text, const Machine& machine)
    : folder_(std::move(folder))
{
    make_folder(folder_);
    lock_.emplace(folder_);
    const fs::path plan_file = folder_ / "plan.yaml";
    if (fs::exists(plan_file) && read_file(plan_file) != plan_text) {
        throw InputError(folder_.string() +
                         " holds the results of another plan (see its plan.yaml); give --out another folder");
    }
    const fs::path machine_file = folder_ / "machine.yaml";
    if (fs::exists(machine_file)) {
        const Machine other = read_machine_of(folder_);
        if (format_of(folder_) != format)
            throw InputError(
                folder_.string() +
                " holds results of an older format, to which nothing is appended; give --out another folder");
        if (other.name != machine.name)
            throw InputError(folder_.string() + " holds rows of another machine, " + printable(other.name));
        if (other.node != machine.node && !other.node.empty() && !machine.node.empty())
            throw InputError(fmt::format("{} holds rows of another node, {}; if this is the same one, give --node {}",
                                         folder_.string(), printable(other.node), printable(other.node)));
    }
    keep_document(plan_file, plan_text);
    keep_document(machine_file,
                  fmt::format("format: {}\nrun: {}\n", format, new_run()) + YAML::Dump(to_yaml(machine)) + "\n");
    read_back();
    if (!fs::exists(folder_ / seal_file)) seal(folder_);
}

RunDirectory::~RunDirectory()
{
    if (!lock_) return;
    try {
        move_unfinished_tails(folder_, done_);
        seal(folder_);
    } catch (const std::exception&) {
    }  // without it, the page says that the run has not ended
}

void RunDirectory::read_back()
{
    check_header(folder_ / measurements_file, with_column(header_of(columns_), row_column, run_of(folder_)));
    check_header(folder_ / samples_file, header_of(sample_columns()));
    check_header(folder_ / layers_file, header_of(part_columns()));
    if (fs::exists(folder_ / measurements_file)) {
        Results results = read_results(folder_);
        if (!results.damage.empty())
            throw InputError(
                fmt::format("the folder is damaged, so nothing is appended: {}; `roof check {}` tells more",
                            results.damage.front(), folder_.string()));
        rows_ = std::move(results.rows);
    }
    for (const Measurement& row : rows_) done_.insert(row.id());
    move_unfinished_tails(folder_, done_);
}

void RunDirectory::append(const Measurement& row)
{
    const std::string id = row.id();
    const fs::path file = folder_ / measurements_file;
    const std::array files{with_header_of(of_samples_, id, row.samples), with_header_of(of_parts_, id, row.parts)};
    const std::string plain = header_of(columns_);
    const std::string header = with_column(plain, row_column, run_of(folder_));
    std::string line = row_line(id, row, columns_);
    line.pop_back();
    try {
        for (std::size_t i = 0; i < files.size(); ++i) append_after_header(folder_ / files_of_lines[i], files[i]);
        const std::string before = last_checksum(file, fs::exists(file) ? fs::file_size(file) : 0).value_or(plain);
        append_after_header(file, header + "\n" + line + "," + row_checksum(before, line, files, header) + "\n");
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
    for (const fs::path& path : csv_files_in(folder)) {
        const std::string file = path.filename();
        if (file == seal_file) continue;
        const std::string text = read_file(path);
        const std::string_view header = std::string_view(text).substr(0, text.find('\n'));
        const bool has_rows = file == measurements_file;
        if (!has_column(header, has_rows ? row_column : block_column)) continue;
        const std::string proven = has_rows ? with_row_checksums(folder) : with_checksums(text, run_of(folder));
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

Machine read_machine_of(const fs::path& folder)
{
    const fs::path file = folder / "machine.yaml";
    read_file(file);  // throws if it is not there
    if (const int found = format_of(folder); found < oldest_format || found > format)
        throw InputError(folder.string() +
                         " holds results of an older format or a newer one, which this version of roof does not read; "
                         "measure again");
    return read_machine(file);
}

}  // namespace roof
