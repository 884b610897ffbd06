// Draws a figure as SVG. page/figure.js draws the same figures where readers zoom, with the same rules: what is outside the
// frame is an arrow at its edge, outlines lie below points, and no text covers another.
#include "analysis/report/svg.hpp"
#include "analysis/table/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

namespace roof::analysis {

namespace {

constexpr double left = 96, right_margin = 28, top = 40, bottom_margin = 56;
constexpr double swatch = 11;
constexpr double legend_line = 18;

/// Distance between entries of a legend; letters of class "tick" are about six units wide.
double legend_step(const std::vector<LegendEntry>& entries)
{
    std::size_t longest = 0;
    for (const LegendEntry& entry : entries) longest = std::max(longest, entry.text.size());
    return swatch + 24 + 6.2 * static_cast<double>(longest);
}

double legend_columns(const std::vector<LegendEntry>& entries, double width)
{
    return std::max(1.0, std::floor(width / legend_step(entries)));
}

struct Box {
    double x, y, w, h;
};

bool meet(const Box& a, const Box& b)
{
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

bool meets_any(const Box& box, const std::vector<Box>& boxes)
{
    return std::ranges::any_of(boxes, [&](const Box& other) { return meet(box, other); });
}

class Drawing {
  public:
    Drawing(const Figure& figure, Svg& svg) : figure_(figure), svg_(svg) {}

    double right() const { return figure_.width - right_margin; }
    double bottom() const { return figure_.height - bottom_margin; }

    double x(double value) const { return along(value, figure_.x, left, right()); }
    double y(double value) const { return along(value, figure_.y, bottom(), top); }

    void axes()
    {
        for (const Tick& tick : figure_.x.ticks_in(figure_.x.frame.low, figure_.x.frame.high)) {
            svg_.line({x(tick.at), top}, {x(tick.at), bottom()}, "grid");
            svg_.text({x(tick.at), bottom() + 18}, tick.text, "tick", Anchor::middle);
        }
        for (const Tick& tick : figure_.y.ticks_in(figure_.y.frame.low, figure_.y.frame.high)) {
            svg_.line({left, y(tick.at)}, {right(), y(tick.at)}, "grid");
            svg_.text({left - 8, y(tick.at) + 4}, tick.text, "tick", Anchor::end);
        }
        svg_.polyline({{left, top}, {left, bottom()}, {right(), bottom()}}, "axis");
        svg_.text({(left + right()) / 2, bottom() + 40}, figure_.x.label, "label", Anchor::middle);
        svg_.text({left, top - 12}, figure_.y.label, "label");
    }

    void rules()
    {
        for (const Rule& rule : figure_.rules) {
            svg_.open("level", rule.title);
            if (!rule.css.empty()) svg_.line({x(rule.x), top}, {x(rule.x), bottom()}, rule.css);
            if (!rule.text.empty()) svg_.text({x(rule.text_at), top + 14}, rule.text, "name", Anchor::middle);
            svg_.close();
        }
    }

    void roofs()
    {
        for (const RoofLine& roof : figure_.roofs) {
            const auto [low_a, low_b] = line(roof, roof.rate.low);
            const auto [high_a, high_b] = line(roof, roof.rate.high);
            const auto [from, to] = line(roof, roof.rate.median);
            svg_.open(roof.dashed || roof.extra ? "roof mix" : "roof", roof.title);
            svg_.polygon({low_a, low_b, high_b, high_a}, "band");
            svg_.line(from, to, "edge");
            svg_.close();
            for (double step = 0; step < 1; step += 0.004) lines_.push_back(box_on(from, to, step));
        }
    }

    void curves()
    {
        for (const Curve& curve : figure_.curves) {
            std::vector<Spot> path;
            for (const std::size_t index : curve.marks) {
                const Spot spot{x(figure_.marks[index].x.median), y(figure_.marks[index].y.median)};
                if (curve.stepped && !path.empty()) {
                    const double middle = (path.back().x + spot.x) / 2;
                    path.push_back({middle, path.back().y});
                    path.push_back({middle, spot.y});
                }
                path.push_back(spot);
            }
            if (path.size() > 1) svg_.polyline(path, "curve " + curve.css);
        }
    }

    /// Arrows from a baseline's points, with their intervals.
    void changes()
    {
        for (const Mark& mark : figure_.marks) {
            if (!mark.before || !(mark.x.median > 0) || !(mark.y.median > 0)) continue;
            const auto& [old_x, old_y] = *mark.before;
            const Spot from{x(old_x.median), y(old_y.median)}, to{x(mark.x.median), y(mark.y.median)};
            svg_.open("change", "",
                      fmt::format(" data-from=\"{}\" data-x=\"{}\" data-y=\"{}\"", escape(mark.key), old_x.median,
                                  old_y.median));
            svg_.line({from.x, y(old_y.low)}, {from.x, y(old_y.high)}, "interval");
            svg_.line(from, to, "change-line");
            if (std::hypot(to.x - from.x, to.y - from.y) > 8) arrow_head(from, to, to, 8, 3);
            svg_.close();
        }
    }

    /// Outlines and steps first, then the large and the small: nothing hides a point.
    void marks()
    {
        std::vector<const Mark*> order;
        for (const Mark& mark : figure_.marks) order.push_back(&mark);
        const auto below = [](const Mark* m) {
            return m->look.find("outline") != std::string::npos ? 2 : m->look.find("step") != std::string::npos ? 1 : 0;
        };
        std::ranges::stable_sort(order, [&](const Mark* a, const Mark* b) {
            return std::tuple{-below(a), -a->radius} < std::tuple{-below(b), -b->radius};
        });
        for (const Mark* mark : order) draw_mark(*mark);
        for (const auto& [place, count] : arrows_)
            if (count > 1)
                svg_.text({std::clamp(place.first, left + 14, right() - 24),
                           std::clamp(place.second, top + 14, bottom() - 12)},
                          std::to_string(count), "tick");
    }

    void names()
    {
        std::vector<const Mark*> named;
        for (const Mark& mark : figure_.marks)
            if (mark.rank >= 0 && !mark.name.empty() && is_inside(mark)) named.push_back(&mark);
        std::ranges::stable_sort(named, {}, &Mark::rank);
        for (const RoofLine& roof : figure_.roofs) name_roof(roof);
        for (const Mark* mark : named)
            if (mark->rank <= most_named) name_mark(*mark);
    }

  private:
    static constexpr int most_named = 5;
    using Line = std::pair<Spot, Spot>;

    static double along(double value, const Axis& axis, double from, double to)
    {
        const auto& [low, high] = axis.frame;
        return from + (to - from) *
                          (axis.linear ? (value - low) / (high - low) : std::log(value / low) / std::log(high / low));
    }

    Line line(const RoofLine& roof, double rate) const
    {
        const auto [from, to] = figure_.line_of(roof, rate, figure_.x.frame);
        return {{x(from.first), y(from.second)}, {x(to.first), y(to.second)}};
    }

    bool is_inside(const Mark& mark) const
    {
        return mark.x.median > 0 && mark.y.median > 0 && x(mark.x.median) > left - 1 &&
               x(mark.x.median) < right() + 1 && y(mark.y.median) > top - 1 && y(mark.y.median) < bottom() + 1;
    }

    void draw_mark(const Mark& mark)
    {
        if (!(mark.y.median > 0) && !figure_.y.linear) return;
        if (!(mark.x.median > 0)) {
            svg_.open("mark unknown", mark.title);
            svg_.line({left, y(mark.y.median)}, {right(), y(mark.y.median)}, "edge");
            svg_.text({left + 8, y(mark.y.median) - 5}, mark.name + ": bytes unknown", "halo");
            svg_.close();
            taken_.push_back({left, y(mark.y.median) - 18, 7.0 * static_cast<double>(mark.name.size() + 15), 18});
            return;
        }
        const Spot at{x(mark.x.median), y(mark.y.median)};
        const Spot inside{std::clamp(at.x, left, right()), std::clamp(at.y, top, bottom())};
        const bool is_out = std::hypot(at.x - inside.x, at.y - inside.y) > 0.5;
        svg_.open(fmt::format("mark {}{}", mark.look, is_out ? " outside" : ""), mark.title,
                  fmt::format(" data-key=\"{}\" data-level=\"{}\" data-x=\"{}\" data-y=\"{}\"", escape(mark.key),
                              escape(mark.level), mark.x.median, mark.y.median));
        if (is_out) {
            arrow(at, inside);
        } else {
            if (mark.whisker) whiskers(mark, at);
            svg_.shape(mark.shape, at, mark.radius);
            taken_.push_back({at.x - mark.radius, at.y - mark.radius, 2 * mark.radius, 2 * mark.radius});
        }
        svg_.close();
    }

    void whiskers(const Mark& mark, Spot at)
    {
        const auto inside = [](double value, double low, double high) { return std::clamp(value, low, high); };
        if (mark.x.low < mark.x.high) {
            const double from = inside(x(mark.x.low), left, right());
            svg_.line({from, at.y}, {inside(x(mark.x.high), left, right()), at.y}, "interval");
            svg_.line({from, at.y - 4}, {from, at.y + 4}, "interval");
        }
        if (mark.y.low < mark.y.high)
            svg_.line({at.x, inside(y(mark.y.low), top, bottom())}, {at.x, inside(y(mark.y.high), top, bottom())},
                      "interval");
    }

    /// At the edge, towards the place outside; arrows at one place are counted.
    void arrow(Spot at, Spot edge)
    {
        arrow_head(edge, at, edge, 9, 5);
        ++arrows_[{std::round(edge.x / 12) * 12, std::round(edge.y / 12) * 12}];
        taken_.push_back({edge.x - 12, edge.y - 12, 24, 24});
    }

    /// In the direction from one spot to another, with its point at `tip`.
    void arrow_head(Spot from, Spot to, Spot tip, double length, double half_width)
    {
        const double turn = std::atan2(to.y - from.y, to.x - from.x);
        const auto corner = [&](double aside) {
            return Spot{tip.x - length * std::cos(turn) - aside * std::sin(turn),
                        tip.y - length * std::sin(turn) + aside * std::cos(turn)};
        };
        svg_.polygon({tip, corner(half_width), corner(-half_width)}, "arrow");
    }

    static Box box_on(Spot from, Spot to, double share)
    {
        return {from.x + share * (to.x - from.x) - 1, from.y + share * (to.y - from.y) - 1, 2, 2};
    }

    bool is_free(const Box& box, bool of_lines) const
    {
        return box.x > left && box.x + box.w < right() && box.y > top - 14 && box.y + box.h < bottom() &&
               !meets_any(box, taken_) && !(of_lines && meets_any(box, lines_));
    }

    /// Along the line, above or below it, where the text covers nothing, or at least no text and mark; without the rate if there
    /// is no other room.
    void name_roof(const RoofLine& roof)
    {
        constexpr double letter = 7.7, cell = 9;
        const auto [from, to] = line(roof, roof.rate.median);
        const double length = std::hypot(to.x - from.x, to.y - from.y);
        if (length < 40) return;
        const Spot across{(to.x - from.x) / length, (to.y - from.y) / length};
        for (const bool of_lines : {true, false})
            for (const std::string& text : {roof.label, roof.label.substr(0, roof.label.rfind(": "))})
                for (double start = 6; start + letter * static_cast<double>(text.size()) < length; start += 12)
                    for (const double shift : {-5.0, 14.0}) {
                        // A slanted text starts at the low end of its line, a level one ends at the right.
                        const double begin =
                            roof.slanted ? start : length - start - letter * static_cast<double>(text.size());
                        const auto at = [&](double forward, double aside) {
                            return Spot{from.x + forward * across.x - aside * across.y,
                                        from.y + forward * across.y + aside * across.x};
                        };
                        std::vector<Box> cells;
                        for (double i = 0; i < letter * static_cast<double>(text.size()); i += cell) {
                            const Spot middle = at(begin + i + cell / 2, shift - 4);
                            cells.push_back({middle.x - cell / 2, middle.y - cell / 2, cell, cell});
                        }
                        if (!std::ranges::all_of(cells, [&](const Box& box) { return is_free(box, of_lines); }))
                            continue;
                        svg_.text(at(begin, shift), text, "name", Anchor::start,
                                  std::atan2(across.y, across.x) * 180 / std::numbers::pi);
                        taken_.insert(taken_.end(), cells.begin(), cells.end());
                        return;
                    }
    }

    /// Above, below or beside the mark, then farther away.
    void name_mark(const Mark& mark)
    {
        const double w = 7 * static_cast<double>(mark.name.size()) + 2, h = 14;
        const Spot at{x(mark.x.median), y(mark.y.median)};
        for (const bool of_lines : {true, false})
            for (double away = mark.radius + 2; away < mark.radius + 70; away += 11)
                for (const auto& [dx, dy] :
                     {std::pair{0, -1}, {0, 1}, {1, 0}, {-1, 0}, {1, -1}, {-1, -1}, {1, 1}, {-1, 1}}) {
                    const Box box{at.x + dx * (away + w / 2) - w / 2, at.y + dy * (away + h / 2) - h / 2, w, h};
                    if (!is_free(box, of_lines)) continue;
                    if (away > mark.radius + 14)
                        svg_.line(at, {std::clamp(at.x, box.x, box.x + w), std::clamp(at.y, box.y, box.y + h)},
                                  "leader");
                    svg_.text({box.x + 1, box.y + 11}, mark.name, "halo");
                    taken_.push_back(box);
                    return;
                }
    }

    const Figure& figure_;
    Svg& svg_;
    std::vector<Box> taken_;  ///< by marks and texts
    std::vector<Box> lines_;  ///< by roofs
    std::map<std::pair<double, double>, int> arrows_;
};

}  // namespace

Svg draw(const Figure& figure, std::string_view clip)
{
    const double width = figure.width - left - right_margin;
    const double legend = legend_height(figure.legend, width);
    Svg svg(figure.width, figure.height + legend, figure.title);
    Drawing drawing(figure, svg);
    drawing.axes();
    svg.open_clip(clip, {left - 10, top - 10}, width + 20, drawing.bottom() - top + 20);
    drawing.rules();
    drawing.roofs();
    drawing.curves();
    drawing.changes();
    drawing.marks();
    drawing.names();
    svg.close();
    draw_legend(svg, figure.legend, {left, figure.height - 4}, width);
    return svg;
}

double legend_height(const std::vector<LegendEntry>& entries, double width)
{
    return legend_line * std::ceil(static_cast<double>(entries.size()) / legend_columns(entries, width));
}

void draw_legend(Svg& svg, const std::vector<LegendEntry>& entries, Spot corner, double width)
{
    const double step = legend_step(entries);
    const auto columns = static_cast<std::size_t>(legend_columns(entries, width));
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const std::size_t line = i / columns;
        const Spot at{corner.x + step * static_cast<double>(i % columns),
                      corner.y + legend_line * static_cast<double>(line)};
        svg.open("mark " + entries[i].look);
        svg.shape(entries[i].shape, {at.x + swatch / 2, at.y + swatch / 2}, swatch / 2);
        svg.close();
        svg.text({at.x + swatch + 6, at.y + swatch - 1}, entries[i].text, "tick");
    }
}

}  // namespace roof::analysis
