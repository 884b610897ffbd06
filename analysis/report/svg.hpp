// Inline SVG, one element per call. Looks come from the report's style sheet by class, so a picture follows its light and
// dark theme; every mark that stands for a number carries a <title> with the number's arithmetic.
#pragma once

#include "analysis/report/frame.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

struct Spot {
    double x = 0;
    double y = 0;
};

enum class Anchor { start, middle, end };
enum class Shape { circle, square, triangle, ring };

class Svg {
  public:
    /// In user units, which are pixels at 100%. `label` is what a screen reader says.
    Svg(double width, double height, std::string_view label);

    void line(Spot from, Spot to, std::string_view css_class);
    /// Open; no fill.
    void polyline(const std::vector<Spot>& spots, std::string_view css_class, std::string_view title = "");
    void polygon(const std::vector<Spot>& spots, std::string_view css_class, std::string_view title = "");
    void rectangle(Spot corner, double width, double height, std::string_view css_class, std::string_view title = "");
    /// `turn` in degrees, clockwise, about the anchor.
    void text(Spot at, std::string_view text, std::string_view css_class, Anchor anchor = Anchor::start,
              double turn = 0);
    void mark(Shape shape, Spot at, double radius, std::string_view css_class, std::string_view title);

    /// What is drawn until close() shares the class and the title; an empty title is left out.
    void open(std::string_view css_class, std::string_view title = "");
    void close();
    /// What is drawn until close() is cut off at the rectangle. `name` must be unique in the page.
    void open_clip(std::string_view name, Spot corner, double width, double height);

    std::string str() const { return text_ + "</svg>\n"; }

  private:
    void end(std::string_view tag, std::string_view title);
    std::string text_;
};

/// A rectangle of a picture with a logarithmic scale on each side.
struct LogPlot {
    LogScale x;
    LogScale y;
    std::string x_label;
    std::string y_label;

    Spot operator()(double at_x, double at_y) const { return {x(at_x), y(at_y)}; }
    double left() const { return x.from; }
    double right() const { return x.to; }
    double top() const { return y.to; }
    double bottom() const { return y.from; }
};

using TickText = std::function<std::string(double)>;

/// Grid, ticks at `x_ticks` and `y_ticks`, and both labels.
void draw_axes(Svg& svg, const LogPlot& plot, const std::vector<double>& x_ticks, const TickText& x_text,
               const std::vector<double>& y_ticks, const TickText& y_text);

/// A swatch and what it stands for.
struct LegendEntry {
    std::string css_class;  ///< of the group around the swatch; "" for none
    std::string mark;       ///< class of the swatch
    std::string text;
};

/// What draw_legend() takes below its corner.
double legend_height(const std::vector<LegendEntry>& entries, double width);
/// From the left, in as many lines as it takes, in columns as wide as the longest text.
void draw_legend(Svg& svg, const std::vector<LegendEntry>& entries, Spot corner, double width);

/// low, low*factor, … up to high.
std::vector<double> ticks(double low, double high, double factor);

}  // namespace roof::analysis
