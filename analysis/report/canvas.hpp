// A drawing of characters: dots in braille (two by four to a cell) or, for plain terminals, one ASCII mark per cell, with
// text laid over them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

class Canvas {
  public:
    Canvas(int columns, int rows, bool plain);

    int columns() const { return columns_; }
    int rows() const { return rows_; }
    /// Dots per row and column of the drawing: what one step of a curve should be.
    int dots_across() const { return columns_ * (plain_ ? 1 : 2); }
    int dots_down() const { return rows_ * (plain_ ? 1 : 4); }

    /// A dot at (x, y), counted in dots from the upper left corner; `mark` stands for it in plain drawings. Outside: none.
    void dot(int x, int y, char mark);
    /// ASCII text over the dots; what falls outside is cut off.
    void write(int column, int row, std::string_view text);
    /// Is there no text at these cells?
    bool free(int column, int row, int length) const;

    /// UTF-8, one line per row, without trailing blanks.
    std::vector<std::string> lines() const;

  private:
    struct Cell {
        unsigned char dots = 0;  ///< as in the braille block's code points
        char mark = 0;
        char text = 0;
    };
    bool inside(int column, int row) const { return column >= 0 && row >= 0 && column < columns_ && row < rows_; }
    Cell& cell(int column, int row) { return cells_[static_cast<std::size_t>(row * columns_ + column)]; }
    const Cell& cell(int column, int row) const { return cells_[static_cast<std::size_t>(row * columns_ + column)]; }

    int columns_;
    int rows_;
    bool plain_;
    std::vector<Cell> cells_;
};

}  // namespace roof::analysis
