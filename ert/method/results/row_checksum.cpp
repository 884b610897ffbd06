#include "ert/method/results/row_checksum.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"

#include <fmt/format.h>

#include <map>
#include <sstream>
#include <vector>

namespace roof {
namespace {

namespace fs = std::filesystem;

/// The CRC-32 of the header and of the lines of each row of a file.
class LinesOfRows {
  public:
    explicit LinesOfRows(const fs::path& file)
    {
        if (!fs::exists(file)) return;
        std::ifstream csv = open_to_read(file);
        CsvLines lines(csv, file.string());
        for (bool more = true; more;) {
            try {
                more = lines.next();
            } catch (const InputError&) {  // its id was read, if it is not the cell with the quote
            }
            if (!more || lines.cells().empty()) continue;
            if (lines.number() == 1)
                header_ = lines.crc();
            else
                rows_[std::string(lines.cells().front())].push_back(lines.crc());
        }
    }
    void add_to(BlockSum& sum, const std::string& id) const
    {
        const auto row = rows_.find(id);
        if (row == rows_.end()) return;
        sum.add(header_);
        for (const std::uint32_t crc : row->second) sum.add(crc);
    }

  private:
    std::uint32_t header_ = 0;
    std::map<std::string, std::vector<std::uint32_t>> rows_;
};

}  // namespace

std::string row_checksum(std::string_view before, std::string_view line, std::span<const std::string> files,
                         std::string_view header)
{
    BlockSum sum;
    sum.add_line(before);
    sum.add_line(line);
    for (const std::string& file : files) for_lines(file, [&](std::string_view one) { sum.add_line(one); });
    sum.add_line(header);
    return sum.text();
}

std::string with_row_checksums(const fs::path& folder)
{
    const std::string text = read_file(folder / "measurements.csv");
    const std::string run = run_of(folder);
    std::vector<LinesOfRows> files;
    for (const std::string_view file : files_of_lines) files.emplace_back(folder / file);
    std::istringstream csv(text);
    CsvLines cells(csv, (folder / "measurements.csv").string());
    std::string out, header;
    std::uint32_t before = 0;
    for_lines(text, [&](std::string_view line) {
        try {
            cells.next();
        } catch (const InputError&) {  // it remains damaged
        }
        if (cells.number() == 1) {
            before = cells.crc();
            header = with_column(line.substr(0, line.rfind(',')), row_column, run);
            out = header + "\n";
            return;
        }
        BlockSum sum;
        sum.add(before);
        sum.add(cells.crc());
        if (!cells.cells().empty())
            for (const LinesOfRows& file : files) file.add_to(sum, std::string(cells.cells().front()));
        if (!run.empty()) sum.add_line(header);
        const std::string checksum = sum.text();
        out.append(line.substr(0, line.rfind(','))).append(",").append(checksum).append("\n");
        before = crc32_of(checksum);
    });
    return out.append(text.substr(text.rfind('\n') + 1));
}

RowProof::RowProof(const CsvLines& row, std::uint32_t before)
    : stated_(row.checksum()), header_(row.header()), line_(row.number())
{
    sum_.add(before);
    sum_.add(row.crc());
}

void RowProof::add(const CsvLines& line, std::size_t file, std::uint32_t header)
{
    Place& place = others_[file];
    if (place.count++ == 0) {
        sum_.add(header);
        place.first = line.number();
    }
    sum_.add(line.crc());
}

std::string RowProof::damage(const fs::path& folder) const
{
    BlockSum sum = sum_;
    if (header_) sum.add(*header_);
    if (sum.text() == stated_) return {};
    std::string sentence = fmt::format("{}:{}: it", (folder / "measurements.csv").string(), line_);
    const std::size_t changed = sum.changed_line(stated_);
    if (changed == 1) return sentence + " does not match its checksum: a line before it is missing, repeated or moved";
    if (changed == 2) return sentence + " does not match its checksum: it was changed";
    std::size_t header = 3;  // the number, in the block, of the header of a file
    for (std::size_t i = 0; i < others_.size(); ++i) {
        const auto [first, count] = others_[i];
        if (count == 0) continue;
        if (changed > header && changed <= header + count)
            return fmt::format("{}:{}: it does not match the checksum of its row, measurements.csv:{}",
                               (folder / files_of_lines[i]).string(), first + changed - header - 1, line_);
        sentence += fmt::format(", or one of its {} lines in {} from line {}", count, files_of_lines[i], first);
        header += count + 1;
    }
    if (header_ && changed == header)
        return fmt::format("{}:{}: it does not match its checksum: the header of the file was changed",
                           (folder / "measurements.csv").string(), line_);
    if (header > 3) sentence += ",";
    return sentence + " does not match its checksum: it was changed, or a line is missing, repeated or moved";
}

}  // namespace roof
