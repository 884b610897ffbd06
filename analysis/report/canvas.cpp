#include "analysis/report/canvas.hpp"

#include <array>

namespace roof::analysis {

namespace {

/// The bit of each dot in a braille pattern, by row and column (Unicode block U+2800).
constexpr std::array<std::array<unsigned char, 2>, 4> braille_bits{
    {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};

std::string braille(unsigned char dots)
{
    // U+2800 + dots as UTF-8: 0xE2, then six bits each.
    return {static_cast<char>(0xE2), static_cast<char>(0xA0 | (dots >> 6)), static_cast<char>(0x80 | (dots & 0x3F))};
}

}  // namespace

Canvas::Canvas(int columns, int rows, bool plain)
    : columns_(columns), rows_(rows), plain_(plain), cells_(static_cast<std::size_t>(columns * rows))
{
}

void Canvas::dot(int x, int y, char mark)
{
    const int across = plain_ ? 1 : 2;
    const int down = plain_ ? 1 : 4;
    if (x < 0 || y < 0 || !inside(x / across, y / down)) return;
    Cell& at = cell(x / across, y / down);
    at.mark = mark;
    at.dots |= braille_bits[static_cast<std::size_t>(y % down)][static_cast<std::size_t>(x % across)];
}

void Canvas::write(int column, int row, std::string_view text)
{
    for (const char letter : text) {
        if (inside(column, row)) cell(column, row).text = letter;
        ++column;
    }
}

bool Canvas::free(int column, int row, int length) const
{
    for (int c = column; c < column + length; ++c)
        if (!inside(c, row) || cell(c, row).text != 0) return false;
    return true;
}

std::vector<std::string> Canvas::lines() const
{
    std::vector<std::string> lines;
    for (int row = 0; row < rows_; ++row) {
        std::string line;
        std::size_t end = 0;
        for (int column = 0; column < columns_; ++column) {
            const Cell& at = cell(column, row);
            if (at.text)
                line += at.text;
            else if (at.dots)
                line += plain_ ? std::string(1, at.mark) : braille(at.dots);
            else
                line += ' ';
            if (line.back() != ' ') end = line.size();
        }
        lines.push_back(line.substr(0, end));
    }
    return lines;
}

}  // namespace roof::analysis
