// Inline SVG, one element per call. The report's style sheet formats it by class, in a light and a dark theme. Each
// mark for a number has a <title> with its arithmetic.
#pragma once

#include "analysis/report/figure.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roof::analysis {

struct Spot {
    double x = 0;
    double y = 0;
};

enum class Anchor { start, middle, end };

class Svg {
  public:
    /// Sizes are in user units, which are pixels at 100%. `label` is for screen readers.
    Svg(double width, double height, std::string_view label);

    void line(Spot from, Spot to, std::string_view css_class);
    void polyline(const std::vector<Spot>& spots, std::string_view css_class);
    void polygon(const std::vector<Spot>& spots, std::string_view css_class);
    /// `turn` in degrees, clockwise, about the anchor.
    void text(Spot at, std::string_view text, std::string_view css_class, Anchor anchor = Anchor::start,
              double turn = 0);
    /// In the direction from one spot to another, with its point at `tip`.
    void arrow_head(Spot from, Spot to, Spot tip, double length, double half_width);
    void shape(Shape shape, Spot at, double radius);

    /// Opens a group, until close(). An empty title is left out. `attributes`: escaped, with a blank before each.
    void open(std::string_view css_class, std::string_view title = "", std::string_view attributes = "");
    void close() { text_ += "</g>\n"; }
    /// Clips what is drawn until close() at a rectangle. `name` must be unique in the page.
    void open_clip(std::string_view name, Spot corner, double width, double height);

    /// The element for a page, whose style sheet formats it.
    std::string str() const { return "<svg " + head_ + ">\n" + text_ + "</svg>\n"; }
    /// A complete file on white paper. A text over lines has its halo as a text below it: few programs except browsers
    /// know paint-order.
    std::string file(std::string_view style_sheet) const;

  private:
    std::string head_;  ///< attributes
    std::string text_;
    std::vector<std::pair<std::size_t, std::size_t>> over_lines_;  ///< texts with a halo: from, to
};

/// Draws the figure (draw.cpp). `clip` must be unique in the page.
Svg draw(const Figure& figure, std::string_view clip);

}  // namespace roof::analysis
