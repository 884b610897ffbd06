#include "ert/base/checksum.hpp"

#include "ert/base/files.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <charconv>
#include <limits>

namespace roof {
namespace {

constexpr std::size_t digits = 8;

/// Calls `take` for each complete line of `text`, without its line end.
template <class Take>
void for_lines(std::string_view text, const Take& take)
{
    for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1)
        take(text.substr(begin, end - begin));
}

std::uint32_t add_line(std::string& out, std::string_view line, std::uint32_t before)
{
    const std::uint32_t crc = crc32_of("\n", crc32_of(line, before));
    out.append(line).append(",").append(checksum_text(crc)).append("\n");
    return crc;
}

std::uint32_t add_header(std::string& out, std::string_view line)
{
    out.append(line).append(",").append(checksum_column).append("\n");
    return crc32_of("\n", crc32_of(line));
}

}  // namespace

std::uint32_t crc32_of(std::string_view text, std::uint32_t before)
{
    return static_cast<std::uint32_t>(
        ::crc32_z(before, reinterpret_cast<const unsigned char*>(text.data()), text.size()));
}

std::string checksum_text(std::uint32_t crc)
{
    return fmt::format("{:08x}", crc);
}

std::optional<std::uint32_t> parse_checksum(std::string_view cell)
{
    std::uint32_t crc = 0;
    const auto [rest, error] = std::from_chars(cell.data(), cell.data() + cell.size(), crc, 16);
    const bool is_lower = cell.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    if (cell.size() != digits || !is_lower || error != std::errc{}) return std::nullopt;
    return crc;
}

void append_lines(const std::filesystem::path& file, const std::string& header, std::string_view lines)
{
    std::error_code none;
    const std::uintmax_t bytes = std::filesystem::exists(file) ? std::filesystem::file_size(file, none) : 0;
    std::string out;
    std::uint32_t crc = 0;
    const auto begin_header = [&] { for_lines(header, [&](std::string_view line) { crc = add_header(out, line); }); };
    if (const auto last = checksum_at(file, bytes)) {
        crc = *last;
    } else {
        begin_header();
        if (bytes > 0) out.clear();  // the file is its header
    }
    out.reserve(out.size() + lines.size() + lines.size() / 8);
    for_lines(lines, [&](std::string_view line) { crc = add_line(out, line, crc); });
    append_file(file, out);
}

std::string with_checksums(std::string_view text)
{
    std::string out;
    bool has_column = false;
    std::uint32_t crc = 0;
    bool is_header = true;
    const std::string ending = "," + std::string(checksum_column);
    for_lines(text, [&](std::string_view line) {
        if (is_header) has_column = line.ends_with(ending);
        if (has_column) line = line.substr(0, line.rfind(','));
        crc = is_header ? add_header(out, line) : add_line(out, line, crc);
        is_header = false;
    });
    const std::size_t complete = text.rfind('\n') + 1;  // 0 if there is no line end
    return out.append(text.substr(complete));
}

std::optional<std::string> with_header(std::string_view text, std::string_view header)
{
    std::string out;
    const std::uint32_t crc = add_header(out, header.substr(0, header.find('\n')));
    for (const std::string_view rest :
         {text.substr(text.find('\n') + 1), text}) {  // the whole text if it has no line end
        const std::string_view line = rest.substr(0, rest.find('\n'));
        const std::size_t comma = line.rfind(',');
        if (comma == std::string_view::npos || line.size() == rest.size()) continue;
        const auto stated = parse_checksum(line.substr(comma + 1));
        if (stated == crc32_of("\n", crc32_of(line.substr(0, comma), crc))) return out.append(rest);
    }
    return std::nullopt;
}

std::optional<std::uint32_t> checksum_at(const std::filesystem::path& file, std::uintmax_t bytes)
{
    constexpr std::size_t tail = digits + 2;  // ",01234567\n"
    std::ifstream in = open_if_there(file);
    std::string text(tail, '\0');
    if (bytes < tail || !in.seekg(static_cast<std::streamoff>(bytes - tail)) || !in.read(text.data(), tail) ||
        text.front() != ',' || text.back() != '\n')
        return std::nullopt;
    return parse_checksum(std::string_view(text).substr(1, digits));
}

}  // namespace roof
