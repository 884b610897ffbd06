#include "ert/method/results/tail.hpp"

#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/method/results/row_checksum.hpp"

#include <algorithm>
#include <vector>

namespace roof {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

void move_unfinished_tails(const fs::path& folder, const std::set<std::string>& done)
{
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (entry.is_regular_file() && entry.path().extension() == ".csv") files.push_back(entry.path());
    for (const fs::path& file : files) {
        const std::size_t finished = finished_bytes(file, done);
        if (finished < fs::file_size(file)) move_end(file, finished);
    }
}

}  // namespace roof
