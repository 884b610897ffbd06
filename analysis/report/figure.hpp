// A figure in data coordinates: axes, roofs, marks, curves and their texts. It is made once, in C++. The drawers only
// place it: draw.cpp as SVG, terminal.cpp as text, page/figure.js in the page, where readers zoom.
#pragma once

#include "analysis/roofline/place.hpp"
#include "analysis/roofline/roofs.hpp"
#include "analysis/table/table.hpp"

#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace roof::analysis {

struct Study;

/// The smallest and the largest of positive, finite values.
struct Extent {
    double low = std::numeric_limits<double>::infinity();
    double high = 0;

    /// Ignores other values.
    void add(double value);
    bool empty() const { return high == 0; }
    bool holds(double value) const { return value >= low && value <= high; }
    double clamped(double value) const { return std::clamp(value, low, high); }
};

/// The largest power of `base` that is at most `value`, and the smallest that is at least `value`.
double power_below(double base, double value);
double power_above(double base, double value);

/// Rank 0 is always drawn; rank 1 where an axis has up to three decades, rank 2 up to one.
struct Tick {
    double at = 0;
    std::string text;
    int rank = 0;
};

struct Axis {
    std::string label;
    Extent frame;             ///< what is seen first
    std::vector<Tick> ticks;  ///< ascending; beyond the frame, too, because readers zoom out
    bool linear = false;

    std::vector<Tick> ticks_in(double low, double high) const;
    /// Where a value is, of a frame that is drawn from one place to the other.
    double along(double value, double from, double to) const;
};

/// Decades from `low` to `high` with 1 to 9 of each.
std::vector<Tick> decade_ticks(double low, double high, const std::function<std::string(double)>& text);
/// low, low*factor, … up to high, some sixty at most.
std::vector<Tick> ticks(double low, double high, double factor, const std::function<std::string(double)>& text);

enum class Shape { circle, square, triangle, diamond, cross };

/// A slanted roof is y = rate * x, up to the highest flat one; a flat one is y = rate, from the highest slanted one on.
struct RoofLine {
    std::string name;   ///< the level; of a flat roof the precision and the operation: "fp32 fma"
    std::string label;  ///< "DRAM, update: 63.0 GB/s"
    std::string title;  ///< a sentence
    bool slanted = false;
    Spread rate;
    double spec = 0;      ///< what a guide specifies; 0 if nothing
    bool dashed = false;  ///< of a data sheet
    bool extra = false;   ///< of other accesses or instructions than the roof: no other line ends at it
    std::string owner{};  ///< of several machines in one figure: lines end at those of their own
};

struct Mark {
    std::string key{};  ///< of what it shows; the same in all figures of a page
    const Placement* of = nullptr;
    std::string level;     ///< the memory level whose bytes place it; empty: the farthest, at its least bytes
    Spread x;              ///< drawn at the median. A median of 0 is unknown: then a line across the figure
    Spread y;              ///< 0: not drawn, because the axis is logarithmic
    bool whisker = false;  ///< draws the intervals
    Shape shape = Shape::circle;
    std::string look;  ///< classes of the style sheet: "forward dot", "step outline"
    double radius = 4;
    std::string name;   ///< written beside it where there is room
    int rank = -1;      ///< its number in the table of points, and the order of the names; 0: a step; -1: no name
    std::string title;  ///< a sentence
    /// Where the same point of a baseline stands, x and y: an arrow from there.
    std::optional<std::pair<Spread, Spread>> before{};
};

struct Curve {
    std::string css;
    std::vector<std::size_t> marks;
};

/// A vertical line with a text at `text_at`.
struct Rule {
    double x = 0;
    std::string css, title, text;
    double text_at = 0;
};

struct LegendEntry {
    Shape shape = Shape::square;
    std::string look;
    std::string text;
    double radius = 5.5;
};

struct Ridge {
    double x = 0, y = 0;
    std::string title;
    std::string text;  ///< of the farthest level
};

struct Figure {
    std::string title;
    std::vector<std::string> heading{};  ///< lines above the picture, the first in bold
    Axis x, y;
    std::vector<RoofLine> roofs;
    std::vector<Mark> marks;
    std::vector<Curve> curves;
    std::vector<Rule> rules;
    std::vector<LegendEntry> legend;
    /// Below the legend: rows of as many texts, the first of headings.
    std::vector<std::vector<std::string>> table{};
    double width = 1060, height = 616;  ///< of the picture in pixels, with axes and without legend

    /// Where a roof begins and ends: (x, y) and (x, y), within these intensities.
    std::pair<std::pair<double, double>, std::pair<double, double>> line_of(const RoofLine& roof, double rate,
                                                                            const Extent& across) const;
    std::vector<Ridge> ridges() const;
};

/// Shape and colour of series number `index`: forty are different.
LegendEntry series_entry(std::size_t index, const std::string& text);
/// A line through the marks, which are of series `index`; adds them and the legend.
void add_series(Figure& figure, std::size_t index, const std::string& name, std::vector<Mark> marks);

/// Gives marks and lines, or a look, the colour of this series: of a model its number among those of the studies.
void colour(Figure& figure, std::size_t series);
void colour(std::string& look, std::size_t series);
std::size_t number_of_model(std::span<const Study> studies, const Measurement& row);

/// What the marks of a roofline or of its times mean: phases, sizes, steps.
std::vector<LegendEntry> legend_of(const std::vector<Mark>& marks);

// Rooflines (roofline_figure.cpp).

struct Frame {
    Extent intensity;  ///< FLOP/byte
    Extent rate;       ///< FLOP/s
};

/// Without ceilings.
inline const Frame whole_frame{{0.01, 1e4}, {1e6, 1e15}};

/// Over all devices, in whole decades: the same for every step. nullopt without a bandwidth or a compute ceiling.
std::optional<Frame> frame_of(const Ceilings& ceilings);

/// The roofs alone. `machine`, which may be null, has the guide's figures.
Figure roofs_figure(const std::string& title, const Roofs& roofs, const Frame& frame, const Machine* machine = nullptr);

/// Whose roofs a picture shows, and their date: "zen5, cpu, 2 threads; roofs measured 2026-11-22 06:34 UTC".
std::string machine_line(const Study& study, const std::string& device, int threads = 0);

/// The lines of lasting roofs in a figure of bursts, and the other way round, where the two differ by 3%.
void add_other_roofs(Figure& figure, const Study& study, const Roofs& roofs);
/// The roof of a step's farthest level for its own reads and writes. nullopt if unknown, or if it is drawn already.
std::optional<RoofLine> own_roof(const Placement& step, const Roofs& roofs);

/// Marks of steps, phases and layers at their least bytes of the farthest level, and curves that join the steps of a
/// series by batch. `each_level`: also a mark at each level whose bytes are known.
void add_placements(Figure& figure, std::span<const Placement* const> placements, bool each_level = false);

/// The numbers of layers of one study, from 1 for the largest headroom of their row.
std::map<const Placement*, int> numbers_of(std::span<const Placement* const> placements);

/// Time, share of the step, rate, intensity, roof, share of attainable, headroom: the texts of the table of points.
std::vector<std::string> cells_of(const Placement& p, Seconds step);

/// Arrows from the points of the study's baseline, if it has one, to the marks.
void add_baseline(Figure& figure, const Study& study);

/// Circle, square or triangle: forward, backward, update.
Shape shape_of(const Placement& p);
/// The radius whose area is the placement's share of the step's time.
double radius_of(const Placement& p, Seconds step);
/// "features.3 bwd": the first of fused layers, of a long name the last parts, and the phase.
std::string short_name(const Placement& p);

/// The axes and the roofs of the figure for the page; page_data.cpp writes the marks.
nlohmann::json to_json(const RoofLine& roof);
nlohmann::json to_json(const Figure& figure);

}  // namespace roof::analysis
