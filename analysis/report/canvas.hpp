// A text drawing: braille dots (two by four per cell) or, on plain terminals, one ASCII mark per cell, with text on
// top.
#pragma once

#include "analysis/report/figure.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

class Canvas {
  public:
    Canvas(int columns, int rows, bool plain);

    int columns() const { return columns_; }
    int rows() const { return rows_; }
    /// Dots per row and per column.
    int dots_across() const { return columns_ * (plain_ ? 1 : 2); }
    int dots_down() const { return rows_ * (plain_ ? 1 : 4); }

    /// A dot at (x, y) in dots from the upper left corner; `mark` in plain drawings. Ignored outside the drawing.
    void dot(int x, int y, char mark);
    /// ASCII text over the dots, cut off at the edge.
    void write(int column, int row, std::string_view text);
    /// Whether these cells have no text.
    bool free(int column, int row, int length) const;

    /// The drawing in UTF-8, one line per row, without trailing blanks.
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

/// A logarithmic scale from a frame onto dots; values outside are clamped.
struct LogScale {
    Extent frame;
    double from = 0;
    double to = 1;

    double operator()(double value) const
    {
        const double inside = std::clamp(value, frame.low, frame.high);
        return from + (to - from) * std::log(inside / frame.low) / std::log(frame.high / frame.low);
    }
    bool holds(double value) const { return value >= frame.low && value <= frame.high; }
};

/// A canvas with a logarithmic scale on each side, in dots.
struct CanvasPlot {
    Canvas canvas;
    LogScale across;
    LogScale down;

    CanvasPlot(const Extent& x, const Extent& y, int columns, int rows, bool plain)
        : canvas(columns, rows, plain), across{x, 0, canvas.dots_across() - 1.0}, down{y, canvas.dots_down() - 1.0, 0}
    {
    }

    int column(double x) const { return static_cast<int>(across(x)) * canvas.columns() / canvas.dots_across(); }
    int row(double y) const { return static_cast<int>(down(y)) * canvas.rows() / canvas.dots_down(); }
};

}  // namespace roof::analysis
