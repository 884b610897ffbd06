#include "ert/base/checksum.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"

#include <fmt/format.h>
#include <libdeflate.h>

#include <numeric>

namespace roof {
namespace {

constexpr std::uint64_t multiplier = 0x5DEECE66D;
constexpr std::uint64_t inverse = 0xDFE05BCB1365;
constexpr std::uint64_t largest = (std::uint64_t{1} << 48) - 1;
static_assert((multiplier * inverse & largest) == 1);

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t length = 8;

/// A changed line is found among so many with certainty enough: another one explains the same difference in 1 of 128
/// cases.
constexpr std::size_t most_lines = 256;

bool is_checksum(std::string_view text)
{
    return text.size() == length && text.find_first_not_of(letters) == std::string_view::npos;
}

/// Writes blocks of lines one after the other.
class BlockWriter {
  public:
    /// `before`: the header without the column, or the checksum of the block before. `header`: with the column; empty
    /// in format 2.
    BlockWriter(std::string_view before, std::string header, const AddOthers& add_others)
        : header_(std::move(header)), add_others_(add_others)
    {
        sum_.add_line(before);
    }

    void add(std::string_view line)
    {
        sum_.add_line(line);
        text_.append(line).append(",");
        if (add_others_) add_others_(line, sum_);
        if (++open_ == most_lines || add_others_) return end();
        text_ += '\n';
    }
    void end()
    {
        if (open_ == 0) return;
        if (text_.back() == '\n') text_.pop_back();
        if (!header_.empty()) sum_.add_line(header_);
        const std::string checksum = sum_.text();
        text_.append(checksum).append("\n");
        sum_ = {};
        sum_.add_line(checksum);
        open_ = 0;
    }
    const std::string& text() const { return text_; }

  private:
    std::string header_;
    const AddOthers& add_others_;
    BlockSum sum_;
    std::string text_;
    std::size_t open_ = 0;
};

std::string_view column_for(const AddOthers& add_others)
{
    return add_others ? row_column : block_column;
}

}  // namespace

std::uint32_t crc32_of(std::string_view text)
{
    return libdeflate_crc32(0, text.data(), text.size());
}

void BlockSum::add(std::uint32_t crc)
{
    total_ = (total_ * multiplier + crc) & largest;
    ++count_;
}

std::string BlockSum::text() const
{
    std::string checksum;
    for (int bits = 42; bits >= 0; bits -= 6) checksum += letters[total_ >> bits & 63];
    return checksum;
}

std::size_t BlockSum::changed_line(std::string_view stated) const
{
    constexpr std::uint64_t largest_crc = 0xFFFFFFFF;
    if (!is_checksum(stated)) return 0;
    const auto total = std::accumulate(stated.begin(), stated.end(), std::uint64_t{},
                                       [](auto sum, char letter) { return sum << 6 | letters.find(letter); });
    std::uint64_t difference = (total - total_) & largest;  // of the CRC-32 of the line, if it is this one
    std::size_t found = 0;
    for (std::size_t line = count_; line > 0; --line) {
        if (difference <= largest_crc || difference >= largest - largest_crc + 1) {
            if (found > 0) return 0;
            found = line;
        }
        difference = difference * inverse & largest;
    }
    return found;
}

void Block::add(std::uint32_t crc, std::string_view file, std::size_t line, std::uint32_t header)
{
    if (places_.empty() || places_.back().file != file) {
        if (!places_.empty()) sum_.add(header);
        places_.push_back({file, line});
    }
    sum_.add(crc);
    ++places_.back().count;
}

std::string Block::damage(std::string_view stated, std::optional<std::uint32_t> run_header) const
{
    constexpr const char* mismatch = " does not match its checksum: ";
    BlockSum sum = sum_;
    if (run_header) sum.add(*run_header);
    if (sum.text() == stated) return {};
    const std::size_t changed = sum.changed_line(stated);
    const Place& own = places_.front();
    std::string sentence = fmt::format("{}:{}: it", own.file, own.first);
    if (changed == 1) return sentence + mismatch + "a line before it is missing, repeated or moved";
    const auto name_of = [](std::string_view file) { return file.substr(file.rfind('/') + 1); };
    std::string others;
    std::size_t before = 1;  // lines of the checksum before the place
    for (const Place& place : places_) {
        const bool is_own = &place == &own;
        if (!is_own) ++before;  // the header of the file
        if (changed > before && changed <= before + place.count)
            return fmt::format("{}:{}: it does not match {}", place.file, place.first + changed - before - 1,
                               is_own ? "its checksum: it was changed"
                                      : fmt::format("the checksum of its row, {}:{}", name_of(own.file), own.first));
        before += place.count;
        if (!is_own)
            others += fmt::format(", or one of its {} lines in {} from line {}", place.count, name_of(place.file),
                                  place.first);
        else if (place.count > 1)
            others += fmt::format(", or a line after it up to {}", place.first + place.count - 1);
    }
    if (changed == before + 1) return sentence + mismatch + "the header of the file was changed";
    return sentence + others + (others.empty() ? "" : ",") + mismatch +
           "it was changed, or a line is missing, repeated or moved";
}

std::string run_of(const std::filesystem::path& folder)
{
    std::string format, run, name;
    std::ifstream file = open_if_there(folder / "machine.yaml");
    std::getline(file, format);
    return file >> name >> run && name == "run:" ? run : "";
}

std::string with_column(std::string_view header, std::string_view name, std::string_view run)
{
    return std::string(header).append(",").append(name).append(run.empty() ? "" : ":").append(run);
}

bool has_column(std::string_view header, std::string_view name)
{
    const std::string_view last = header.substr(header.rfind(',') + 1);
    return last.size() < header.size() && last.substr(0, last.find(':')) == name;
}

void append_block(const std::filesystem::path& file, std::string_view header, std::string_view lines,
                  const AddOthers& add_others)
{
    std::error_code none;
    const std::uintmax_t bytes = std::filesystem::exists(file) ? std::filesystem::file_size(file, none) : 0;
    const std::string run = run_of(file.parent_path());
    const std::string first = with_column(header, column_for(add_others), run);
    const std::optional<std::string> last = last_checksum(file, bytes);
    if (!last && bytes > 0 && (bytes != first.size() + 1 || read_file(file) != first + "\n"))
        throw InputError(file.string() + ": nothing is appended, because its last lines have no checksum");
    BlockWriter blocks(last ? std::string_view(*last) : header, run.empty() ? "" : first, add_others);
    for_lines(lines, [&](std::string_view line) { blocks.add(line); });
    blocks.end();
    append_file(file, (bytes > 0 ? "" : first + "\n") + blocks.text());
}

std::string with_checksums(std::string_view text, std::string_view run, const AddOthers& add_others)
{
    std::string header;
    bool has_checksums = false;
    std::optional<BlockWriter> blocks;
    for_lines(text, [&](std::string_view line) {
        std::string_view checksum;
        if (!blocks) has_checksums = has_column(line, column_for(add_others));
        if (const std::size_t comma = line.rfind(','); has_checksums && comma != std::string_view::npos) {
            checksum = line.substr(comma + 1);
            line = line.substr(0, comma);
        }
        if (!blocks) {
            header = with_column(line, column_for(add_others), run);
            blocks.emplace(line, run.empty() ? "" : header, add_others);
            return;
        }
        blocks->add(line);
        if (!checksum.empty()) blocks->end();
    });
    if (blocks) blocks->end();
    const std::size_t complete = text.rfind('\n') + 1;  // 0 if there is no line end
    return (blocks ? header + "\n" + blocks->text() : std::string()).append(text.substr(complete));
}

std::optional<std::string> last_checksum(const std::filesystem::path& file, std::uintmax_t bytes)
{
    constexpr std::size_t tail = length + 2;  // ",01234567\n"
    std::ifstream in = open_if_there(file);
    std::string text(tail, '\0');
    if (bytes < tail || !in.seekg(static_cast<std::streamoff>(bytes - tail)) || !in.read(text.data(), tail) ||
        text.front() != ',' || text.back() != '\n')
        return std::nullopt;
    text = text.substr(1, length);
    return is_checksum(text) ? std::optional(text) : std::nullopt;
}

}  // namespace roof
