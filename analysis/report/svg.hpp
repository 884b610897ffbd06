// Inline SVG, one element per call. The report's style sheet formats it by class, in a light and a dark theme. Each
// mark for a number has a <title> with its arithmetic.
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

struct LogPlot;

class Svg {
  public:
    /// Sizes are in user units, which are pixels at 100%. `label` is for screen readers.
    Svg(double width, double height, std::string_view label);

    void line(Spot from, Spot to, std::string_view css_class);
    /// Draws an open line without fill.
    void polyline(const std::vector<Spot>& spots, std::string_view css_class, std::string_view title = "");
    void polygon(const std::vector<Spot>& spots, std::string_view css_class, std::string_view title = "");
    void rectangle(Spot corner, double width, double height, std::string_view css_class, std::string_view title = "");
    /// `turn` in degrees, clockwise, about the anchor.
    void text(Spot at, std::string_view text, std::string_view css_class, Anchor anchor = Anchor::start,
              double turn = 0);
    void mark(Shape shape, Spot at, double radius, std::string_view css_class, std::string_view title);

    /// Opens a group, until close(). An empty title is left out.
    void open(std::string_view css_class, std::string_view title = "");
    void close();
    /// Clips what is drawn until close() ten units outside the plot. `name` must be unique in the page.
    void open_clip(std::string_view name, const LogPlot& plot);

    /// The element for a page, whose style sheet formats it.
    std::string str() const { return "<svg " + head_ + ">\n" + text_ + "</svg>\n"; }
    /// A complete file on white paper.
    std::string file(std::string_view style_sheet) const;

  private:
    void end(std::string_view tag, std::string_view title);
    std::string head_;  ///< attributes
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

/// Draws the grid, ticks at `x_ticks` and `y_ticks`, and both labels.
void draw_axes(Svg& svg, const LogPlot& plot, const std::vector<double>& x_ticks, const TickText& x_text,
               const std::vector<double>& y_ticks, const TickText& y_text);

/// A swatch and its text.
struct LegendEntry {
    std::string css_class;  ///< of the group around the swatch; "" for none
    std::string mark;       ///< class of the swatch
    std::string text;
};

/// The height of draw_legend().
double legend_height(const std::vector<LegendEntry>& entries, double width);
/// Draws the legend in columns as wide as the longest text.
void draw_legend(Svg& svg, const std::vector<LegendEntry>& entries, Spot corner, double width);

/// A value and its interval at `x`, with the text of its mark.
struct SeriesPoint {
    double x;
    double median;
    double low;
    double high;
    std::string title;
};

/// A line of steps, because nothing was measured between the points, with a mark and an interval at each point, in colour `index` of the series.
void draw_series(Svg& svg, const LogPlot& plot, std::size_t index, const std::vector<SeriesPoint>& points,
                 double radius);
/// The entry of a series in the legend.
LegendEntry series_entry(std::size_t index, const std::string& text);

/// The ticks low, low*factor, … up to high.
std::vector<double> ticks(double low, double high, double factor);

}  // namespace roof::analysis
